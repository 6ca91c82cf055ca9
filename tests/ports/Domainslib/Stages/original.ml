(* Two stages that run at the same time, joined by a channel. *)
module T = Domainslib.Task
module C = Domainslib.Chan

let program pool count =
  let squares = C.make_bounded 16 in
  let producer =
    T.async pool (fun () ->
        for n = 1 to count do
          C.send squares (n * n mod 1009)
        done)
  in
  let total = ref 0 in
  for _ = 1 to count do
    total := !total + C.recv squares
  done;
  T.await pool producer;
  !total
