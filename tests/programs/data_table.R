# Work that data.table shares among OpenMP threads, then the same in forked children.
suppressMessages(library(data.table))
threads <- as.integer(Sys.getenv("OMP_NUM_THREADS"))
setDTthreads(threads, restore_after_fork = TRUE)
stopifnot(getDTthreads() == threads)

set.seed(11)
n <- 400000L
table <- data.table(
  id = sample(5000L, n, TRUE), name = sample(c(letters, NA), n, TRUE),
  x = round(runif(n), 6), y = rnorm(n), when = as.POSIXct("2024-02-29", tz = "UTC") + sample(1e6, n, TRUE)
)
fwrite(table, "table.csv")
again <- fread("table.csv", tz = "UTC")
stopifnot(nrow(again) == n, identical(again$id, table$id))
fwrite(again[order(name, -x, id)], "sorted.csv")
fwrite(again[, .(n = .N, mean = mean(x), sum = sum(y), last = max(when)), by = id], "groups.csv")
fwrite(again[, .(rolling = frollmean(y, 7), rank = frank(x))], "rolling.csv")
fwrite(unique(again, by = c("name", "id"))[again[1:1000], on = c("name", "id")], "join.csv")
fwrite(again[x %between% c(0.2, 0.4) & name %chin% c("a", "q")], "subset.csv")

# Each child opens regions of its own.
one <- function(part) {
  setDTthreads(as.integer(Sys.getenv("CHILD_THREADS")))
  rows <- again[seq.int(part, n, 4L)]
  rows[order(y), .(total = sum(x), first = y[1]), by = name]
}
parts <- parallel::mclapply(1:4, one, mc.cores = 2L, mc.set.seed = FALSE)
stopifnot(all(vapply(parts, is.data.table, TRUE)))
fwrite(rbindlist(parts, idcol = "part"), "parts.csv")
fwrite(again[, .(total = sum(x)), by = name], "after.csv")
cat(nrow(rbindlist(parts)), "rows from children\n")
