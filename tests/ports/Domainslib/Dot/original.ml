(* The scalar product of two vectors. *)
module T = Domainslib.Task

let program pool count =
  let a = Array.init count (fun i -> float_of_int (i mod 7)) and b = Array.init count (fun i -> float_of_int (i mod 11)) in
  let product = T.parallel_for_reduce pool ( +. ) 0. ~start:0 ~finish:(count - 1) ~body:(fun i -> a.(i) *. b.(i)) in
  int_of_float product
