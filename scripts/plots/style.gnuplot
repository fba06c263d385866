set terminal svg size 760,420 font "sans-serif,13" background rgb "white"
set border 3 lc rgb "#888888"
set tics nomirror
set grid ytics lc rgb "#dddddd" lt 1
