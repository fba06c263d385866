# Bytes of keys and values, by who sends them.
load "scripts/plots/style.gnuplot"
set datafile separator ","
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 border -1
set boxwidth 0.7
set xtics rotate by -25 scale 0 noenhanced
set ylabel "MB sent"
set yrange [0:]
set key top right
plot out."/bytes.csv" using (column("filtered.by_workers.sent") / 1e6):xtic(1) title "by workers" lc rgb "#3b6ea5", \
     "" using (column("filtered.by_servers.sent") / 1e6) title "by servers" lc rgb "#d98c3f"
