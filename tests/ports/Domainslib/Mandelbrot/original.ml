(* How many steps each point of a picture takes to leave the circle. *)
module T = Domainslib.Task

let escape x y =
  let rec go k re im =
    if k >= 200 || (re *. re) +. (im *. im) > 4. then k else go (k + 1) ((re *. re) -. (im *. im) +. x) ((2. *. re *. im) +. y)
  in
  go 0 0. 0.

let program pool size =
  let picture = Array.make (size * size) 0 in
  let at k = float_of_int k /. float_of_int size in
  T.parallel_for pool ~start:0 ~finish:(size - 1) ~body:(fun i ->
      for j = 0 to size - 1 do
        picture.((size * i) + j) <- escape ((3. *. at j) -. 2.) ((3. *. at i) -. 1.5)
      done);
  Array.fold_left ( + ) 0 picture
