(* Tasks in OCaml 5 with Domainslib: the computations of ../Costs.hs and examples/tasks, with the same
   sizes and algorithms, so that absolute times can be compared.

     domainslib DOMAINS SAMPLES [CASE...]   prints "case<TAB>unit<TAB>value" lines, as bench.h has them *)

module T = Domainslib.Task

let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let rec fib_tasks pool cut_off n =
  if n < max 2 cut_off then fib n
  else
    let right = T.async pool (fun () -> fib_tasks pool cut_off (n - 2)) in
    let left = fib_tasks pool cut_off (n - 1) in
    left + T.await pool right

(* The iterations from 0, below n. *)
let each pool n body = T.parallel_for pool ~start:0 ~finish:(n - 1) ~body

(* As Life.hs: a byte for each cell, sums of two columns that slide along, a rule without a branch. *)
let next self count = ((((count - self) lor self) lxor 3) - 1) lsr 62

let get board i = Char.code (Bytes.unsafe_get board i)

let column board above here below j = get board (above + j) + get board (here + j) + get board (below + j)

let life_row n from into i =
  let above = n * ((i + n - 1) mod n) and here = n * i and below = n * ((i + 1) mod n) in
  let settle j self count = Bytes.unsafe_set into (here + j) (Char.unsafe_chr (next self count)) in
  let first = column from above here below 0 in
  let rec go j two middle self =
    if j = n then settle (n - 1) self (two + first)
    else begin
      let right_self = get from (here + j) in
      let right = get from (above + j) + right_self + get from (below + j) in
      settle (j - 1) self (two + right);
      go (j + 1) (middle + right) right right_self
    end
  in
  go 1 (column from above here below (n - 1) + first) first (get from here)

(* Example.hs's numbers. *)
let randoms n =
  let x = ref 42 in
  Array.init n (fun _ ->
      let this = !x / 65536 in
      x := ((!x * 25214903917) + 11) land 281474976710655;
      this)

let life n steps =
  let numbers = randoms (n * n) in
  fun pool ->
    let from = ref (Bytes.init (n * n) (fun i -> Char.chr (numbers.(i) land 1))) and into = ref (Bytes.create (n * n)) in
    for _ = 1 to steps do
      each pool n (life_row n !from !into);
      let other = !from in
      from := !into;
      into := other
    done

let escape limit x y =
  let rec go k re im =
    let re2 = re *. re and im2 = im *. im in
    if k >= limit || re2 +. im2 > 4. then k else go (k + 1) (re2 -. im2 +. x) ((2. *. re *. im) +. y)
  in
  go 0 0. 0.

let mandelbrot n limit pool =
  let image = Array.make (n * n) 0 in
  let at k = float_of_int k /. float_of_int n in
  each pool n (fun i ->
      for j = 0 to n - 1 do
        image.((i * n) + j) <- escape limit ((3. *. at j) -. 2.) ((3. *. at i) -. 1.5)
      done)

let matrix n =
  let numbers = Array.map (fun x -> float_of_int x /. 4294967296.) (randoms (2 * n * n)) in
  let a = Array.sub numbers 0 (n * n) and b = Array.sub numbers (n * n) (n * n) in
  fun pool ->
    let c = Array.make (n * n) 0. in
    each pool n (fun i ->
        for k = 0 to n - 1 do
          let factor = a.((i * n) + k) in
          for j = 0 to n - 1 do
            c.((i * n) + j) <- c.((i * n) + j) +. (factor *. b.((k * n) + j))
          done
        done)

let () =
  let domains = int_of_string Sys.argv.(1) and samples = int_of_string Sys.argv.(2) in
  let wanted = Array.to_list (Array.sub Sys.argv 3 (Array.length Sys.argv - 3)) in
  let pool = T.setup_pool ~num_domains:(domains - 1) () in
  let case name unit scale body =
    if wanted = [] || List.mem name wanted then begin
      let sample _ =
        Gc.full_major ();
        let start = Unix.gettimeofday () in
        T.run pool (fun () -> body pool);
        Unix.gettimeofday () -. start
      in
      let times = List.sort compare (List.init samples sample) in
      Printf.printf "%s\t%s\t%.6g\n%!" name unit (List.nth times (samples / 2) *. scale)
    end
  in
  let check n expected result = if result <> expected then failwith (Printf.sprintf "fib %d is not %d" n result) in
  let iterations = 1_000_000 in
  case "fib-32-domainslib" "ns" (1e9 /. 3524577.) (fun pool -> check 32 2178309 (fib_tasks pool 2 32));
  case "fib-42-cutoff-20-domainslib" "ms" 1e3 (fun pool -> check 42 267914296 (fib_tasks pool 20 42));
  case "parallel-for-empty-domainslib" "ns"
    (1e9 /. float_of_int iterations)
    (fun pool -> T.parallel_for pool ~chunk_size:1 ~start:0 ~finish:(iterations - 1) ~body:ignore);
  case "life-ocaml" "ms" 1e3 (life 1024 512);
  case "matrix-multiplication-ocaml" "ms" 1e3 (matrix 512);
  case "mandelbrot-ocaml" "ms" 1e3 (mandelbrot 1024 500);
  (* tests/ports, with the sizes of its Table.hs. *)
  let port name program size =
    case ("port-domainslib-" ^ name ^ "-original") "ms" 1e3 (fun pool -> if program pool size < 0 then failwith (name ^ " is wrong"))
  in
  port "dot" Dot.program 1_000_000;
  port "mandelbrot" Mandelbrot.program 400;
  port "prefix" Prefix.program 1_000_000;
  port "stages" Stages.program 20_000;
  port "tree" Tree.program 20;
  T.teardown_pool pool
