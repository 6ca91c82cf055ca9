(* The sum over a binary tree, whose branches are taken at the same time where they are large. *)
module T = Domainslib.Task

type tree = Leaf of int | Node of tree * tree

let rec grow depth n = if depth = 0 then Leaf n else Node (grow (depth - 1) (2 * n), grow (depth - 1) ((2 * n) + 1))

let rec total = function
  | Leaf n -> n * n mod 1009
  | Node (left, right) -> total left + total right

let rec total_tasks pool depth tree =
  match tree with
  | Node (left, right) when depth > 0 ->
      let right_total = T.async pool (fun () -> total_tasks pool (depth - 1) right) in
      let left_total = total_tasks pool (depth - 1) left in
      left_total + T.await pool right_total
  | _ -> total tree

let program pool depth = total_tasks pool (depth - 6) (grow depth 1)
