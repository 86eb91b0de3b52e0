# A small shop.
library(dplyr)
require("stats")
source("R/prices.R")

MAX_ITEMS <- 10
rates = c(vat = 0.21, reduced = 0.1)

#' Adds up a cart.
#'
#' @param cart what was put in
#' @return a number
#' @export
total <- function(cart, rate = MAX_ITEMS, ...) {
  sum <- 0
  for (item in cart$items) {
    sum <- sum + price(item, rate = rate)
  }
  helper <- function(x) round(x, 2)
  helper(sum) |> stats::setNames("total")
}

price = function(item, rate) dplyr::filter(item, kind == rate)

print.shop <- function(x, ...) {
  cat(format(x), "\n")
  invisible(x)
}

`%+%` <- function(a, b) paste0(a, b)

setClass("Shop", representation(name = "character"))
setGeneric("open", function(shop, ...) standardGeneric("open"))
setMethod("open", "Shop", function(shop, ...) {
  total(shop@cart)
})

Counter <- R6::R6Class("Counter",
  inherit = Base,
  public = list(
    count = 0,
    add = function(n = 1) {
      self$count <- self$count + n
      private$log(n)
      invisible(self)
    }
  ),
  private = list(
    log = function(n) message("added ", n)
  )
)

function(x) x + 1 -> inc
sapply(1:3, function(i) total(i))
lapply(1:3, \(i) price(i, 1))
