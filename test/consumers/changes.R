# Applies changes to the earlier rows: Rscript changes.R OLD.csv CHANGES.csv NEW.csv
files <- commandArgs(TRUE)
rows <- lapply(files, read.csv, colClasses = "character", check.names = FALSE)
old <- rows[[1]]
changes <- rows[[2]]
new <- rows[[3]]
kind <- changes[["_change"]]
earlier <- changes$id[kind != "added"]
later <- changes[kind != "removed", names(old)]
stopifnot(earlier %in% old$id)
result <- rbind(old[!(old$id %in% earlier), ], later)
sorted <- function(frame) frame[order(as.integer(frame$id)), ]
stopifnot(isTRUE(all.equal(sorted(result), sorted(new), check.attributes = FALSE)))
cat(sum(kind == "added"), sum(kind == "removed"), sum(kind == "changed"), "\n")
