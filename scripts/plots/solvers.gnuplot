# How far the objective is above its minimum, over virtual time.
load "scripts/plots/style.gnuplot"
least = 4377.792256
set logscale y
set format y "10^{%L}"
set xlabel "virtual seconds"
set ylabel "objective above its minimum, relative"
set key top right
above(y) = (y - least) / least
plot for [name in "'block proximal gradient' AdaGrad FTRL"] out."/solvers ".name.".curve" using 1:(above($2)) with lines lw 2 title name
