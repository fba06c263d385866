# Time to the objective and waiting, by delay.
load "scripts/plots/style.gnuplot"
set datafile separator ","
set xlabel "delay: blocks under way"
set ylabel "virtual seconds to the objective"
set y2label "of the workers' time spent waiting"
set y2tics format "%g%%"
set xtics (0, 1, 2, 4, 8, 16)
set xrange [-0.5:16.5]
set yrange [0:]
set y2range [0:100]
set key bottom right
delay(name) = real(substr(name, strstrt(name, "=") + 1, strlen(name)))
plot "< sed 1d ".out."/delay.csv | sort -t= -k2 -n" using (delay(strcol(1))):2:3 with yerrorlines title "time" lw 2 pt 7 lc rgb "#3b6ea5", \
     "" using (delay(strcol(1))):(100 * $8) axes x1y2 with linespoints title "waiting" lw 2 pt 5 lc rgb "#d98c3f"
