"""How the page of a bench looks, by day and by night."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #ffffff; --line: #d5d9df;
 --soft: #f2f4f7; --quiet: #59616c; --warn: #fff3d6; --c0: #0072b2; --c1: #d55e00; --c2: #009e73;
 --c3: #cc79a7; --c4: #b58900; --c5: #56b4e9; --c6: #7f7f7f; --c7: #6a3d9a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #15181c; --line: #3a4048;
 --soft: #1e2228; --quiet: #a2abb6; --warn: #3d3212; --c0: #4aa3df; --c1: #f28e42; --c2: #2fc79a;
 --c3: #e09cc3; --c4: #dcb53c; --c5: #86cdf5; --c6: #a8a8a8; --c7: #a98bd6; } }
body { margin: 0; background: var(--paper); color: var(--ink);
 font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1400px; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: var(--quiet); } dd { margin: 0; }
.warning { background: var(--warn); padding: .6rem .9rem; border-radius: 6px; }
.beside { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }
figure { margin: 0 0 1.2rem; max-width: 100%; } figure.table, .scroll { overflow-x: auto; }
figcaption, caption { text-align: left; font-weight: 600; padding: .3rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
 white-space: nowrap; }
th[scope=row] { text-align: left; } thead th { background: var(--soft); }
.note, .legend { color: var(--quiet); font-size: 13px; max-width: 70ch; }
.legend span { margin-right: 1rem; white-space: nowrap; }
svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
svg .grid { stroke: var(--line); }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); } .c3 { fill: var(--c3); }
.c4 { fill: var(--c4); } .c5 { fill: var(--c5); } .c6 { fill: var(--c6); } .c7 { fill: var(--c7); }
"""
