(* All sums from the first element on, modulo a number. *)
module T = Domainslib.Task

let program pool count =
  let add a b = (a + b) mod 1000003 in
  let sums = T.parallel_scan pool add (Array.init count (fun i -> i * i mod 1009)) in
  Array.fold_left (fun whole part -> ((whole * 31) + part) mod 1000003) 0 sums
