# Runs one R program several times on a table and writes its CPU seconds and labels as JSON.
# Arguments: a folder with the programs of the paper's authors, a file of comma-separated numbers, the name of the work,
# the largest number of runs, and the seconds after which no further run is started.

given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
work <- given[3]
most_runs <- as.integer(given[4])
enough <- as.numeric(given[5])
X <- scale(as.matrix(read.csv(given[2], header = FALSE)))
k <- 3
size <- 50
bound <- 5

# The programs define functions of the same names, so each has an environment of its own. One of them goes on with an
# example that needs a function from elsewhere; by then, all that is used here is defined.
program <- function(file) {
  own <- new.env()
  path <- file.path(folder, file)
  suppressWarnings(suppressPackageStartupMessages(try(sys.source(path, envir = own), silent = TRUE)))
  own
}
grid <- program("hill_climb.R")
golden <- program("hill_climb_GSS.R")

sas_given <- function() {
  total <- colSums(X^2)
  within <- apply(X, 2, function(x) kmeans(x, centers = k, iter.max = 10)$tot.withinss)
  start <- which(rank((total - within) / total, ties.method = "random") > ncol(X) - size)
  grid$Alternate(X, k, total, start, size, 20, 0)$result
}

sparse_kmeans <- function(bound) sparcl::KMeansSparseCluster(X, K = k, wbounds = bound, silent = TRUE)[[1]]$Cs

sparse_hierarchical <- function(bound) {
  tree <- sparcl::HierarchicalSparseCluster(X, wbound = bound, method = "complete", silent = TRUE)
  cutree(tree$hc, k)
}

works <- list(
  sas_given = sas_given,
  sas_grid = function() grid$hill_climb(X, k, 50, 25, 20, 0)$best_result,
  sas_golden = function() golden$hill_climb_GSS(X, k, 25, 20, 0, 1)$result,
  sparse_kmeans_given = function() sparse_kmeans(bound),
  sparse_kmeans = function() {
    sparse_kmeans(sparcl::KMeansSparseCluster.permute(X, K = k, nperms = 25, silent = TRUE)$bestw)
  },
  sparse_hierarchical_given = function() sparse_hierarchical(bound),
  sparse_hierarchical = function() {
    sparse_hierarchical(sparcl::HierarchicalSparseCluster.permute(X, nperms = 10)$bestw)
  }
)

set.seed(0)
seconds <- c()
while (length(seconds) < most_runs && sum(seconds) < enough) {
  invisible(capture.output(used <- system.time(labels <- suppressWarnings(works[[work]]()))))
  seconds <- c(seconds, used[["user.self"]] + used[["sys.self"]])
}
cat(sprintf(
  '\n{"seconds": [%s], "labels": [%s]}\n', paste(seconds, collapse = ", "), paste(labels, collapse = ", ")
))
