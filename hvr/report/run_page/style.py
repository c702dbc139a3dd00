"""How the page of a run looks, beyond what it shares with the page of a bench."""

STYLE = """
:root { --good: #00734f; --bad: #c22f1f; --mark: #ffe9a8; }
@media screen and (prefers-color-scheme: dark) {
 :root { --good: #2fc79a; --bad: #ff8a7a; --mark: #4d4014; } }
.outcome { font-size: 1.1rem; font-weight: 600; padding: .5rem .8rem; border-left: 5px solid; }
.good { --tone: var(--good); } .bad { --tone: var(--bad); } .open { --tone: var(--quiet); }
.outcome, .mark, .said { color: var(--tone); }
code { font-size: 13px; overflow-wrap: anywhere; }
summary { cursor: pointer; } a { color: inherit; }
:focus-visible { outline: 3px solid var(--c0); outline-offset: 2px; }
ol.plan > li { margin: .3rem 0; } .block summary { font-weight: 600; }
.conditions summary, .sent summary { font-weight: 400; color: var(--quiet); font-size: 13px; }
.conditions code { margin-right: .5rem; }
.beside-steps { display: grid; gap: 2rem; grid-template-columns: minmax(0, 1fr); }
.scenes svg.hvr-plan { display: block; max-width: 100%; height: auto; max-height: 75vh; }
.scenes .legend svg.hvr-plan { display: inline; }
.beside > .scenes { flex: 1 1 26rem; max-width: 44rem; }
td, th { text-align: left; }
.scrubber { display: flex; gap: .6rem; align-items: center; flex-wrap: wrap; margin: .6rem 0; }
.scrubber input { flex: 1 1 12rem; } .scrubber output { flex-basis: 100%; min-height: 1.5em; }
.timeline { list-style: none; padding: 0; margin: 0; }
.timeline li.step { border-left: 5px solid var(--tone); padding: .2rem .8rem; margin: 0 0 .7rem;
 break-inside: avoid; }
.timeline .turn { font-weight: 600; color: var(--quiet); margin: 1rem 0; }
.timeline p { margin: .2rem 0; } .timeline dl { margin: .2rem 0; }
.timeline .title > a { font-weight: 700; }
.timeline li.step:target, .timeline li.step.chosen { background: var(--mark); }
.fact { display: inline-block; margin-right: .8rem; }
.fact.lost, .fact.odd { color: var(--bad); }
.remark { padding: .2rem .6rem; background: var(--soft); border-radius: 4px; }
.remark.failure { border: 1px solid var(--bad); }
.remark.recovery { border: 1px solid var(--good); }
.hvr-plan rect.chosen { stroke: #d6007a; stroke-width: 3.5; stroke-dasharray: none; }
.hvr-plan line.chosen, .hvr-plan polyline.chosen { stroke-width: 5; }
.hvr-plan .group-route [data-steps] { cursor: pointer; }
@media (min-width: 1000px) {
 .beside-steps { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
 #picture-way { position: sticky; top: 0; z-index: 1; background: var(--paper); } }
@media print { .beside > .scenes { flex: 1 1 26rem; max-width: 44rem; }
td, th { text-align: left; }
.scrubber { display: none; } .beside-steps { display: block; }
 #picture-way { position: static; } .scenes svg.hvr-plan { max-height: 18cm; } }
"""
