import { backgrounds, type Colours } from '../../core/catalog/colours.ts'
import { chartRules } from './chart/svg/svg.ts'

/** Variables, general rules, and rules for narrow screens, animation and print. */
export function style({ light, dark }: Colours): string {
  return `${tokens(light, dark)}${rules}${chartRules}\n${otherMedia}`
}

function tokens(lightAccent: string, darkAccent: string): string {
  return /* css */ `
:root {
  color-scheme: light dark;
  --paper: light-dark(${backgrounds.light.paper}, ${backgrounds.dark.paper});
  --raised: light-dark(${backgrounds.light.raised}, ${backgrounds.dark.raised});
  --ink: light-dark(#1b1f23, #e8eaec);
  --soft: light-dark(#4d5963, #b0bac3);
  --line: light-dark(#d5dade, #3a434b);
  --accent: light-dark(${lightAccent}, ${darkAccent});
  --onaccent: light-dark(#ffffff, ${backgrounds.dark.paper});
  --warn: light-dark(#9a3412, #fdba74);
  --step: 0.5rem;
  --wide: 84rem;
  --round: 8px;
}
[data-light='light'] { color-scheme: light; }
[data-light='dark'] { color-scheme: dark; }
`
}

const rules = /* css */ `
*, *::before, *::after { box-sizing: border-box; }
html { font: 100%/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; background: var(--paper); color: var(--ink); scroll-padding-top: var(--step); }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; }
header.top, nav.trail, main, footer.bottom { width: 100%; max-width: var(--wide); margin: 0 auto; padding: var(--step) calc(2 * var(--step)); }
main { flex: 1; padding-bottom: calc(6 * var(--step)); }
main:focus { outline: none; }
a { color: var(--accent); text-underline-offset: 0.3em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
h1 { font-size: clamp(1.5rem, 1.3rem + 1vw, 2rem); line-height: 1.15; letter-spacing: -0.015em; margin: var(--step) 0; overflow-wrap: anywhere; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: calc(5 * var(--step)) 0 var(--step); overflow-wrap: anywhere; }
h3 { font-size: 1.1rem; line-height: 1.3; margin: calc(2 * var(--step)) 0 var(--step); overflow-wrap: anywhere; }
p { margin: 0 0 var(--step); max-width: 80ch; overflow-wrap: anywhere; }
ul, ol { padding-left: 1.4rem; }
li, dd, dt, blockquote, summary { overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 1rem; }
.lead { font-size: 1.1rem; color: var(--soft); }
.facts, small { color: var(--soft); font-size: 1rem; }
.dotted { max-width: none; margin: 0; }
.dotted > :not(:last-child)::after { content: '\\a0·'; }
.dotted > a:not(:last-child)::after { display: inline-block; }
.dotted > :last-child { white-space: nowrap; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: var(--step); top: var(--step); background: var(--paper); padding: var(--step); z-index: 9; }
.late { color: var(--warn); }
.head { display: flex; flex-wrap: wrap; gap: 0 calc(3 * var(--step)); justify-content: space-between; align-items: center; }
.head h1 { flex: 1 1 20rem; }
.actions { display: flex; flex-wrap: wrap; gap: var(--step); align-items: center; margin-bottom: var(--step); }
.button, .menu > summary { display: inline-block; border: 1px solid var(--soft); border-radius: var(--round); padding: 0.35rem 0.8rem; color: var(--ink); background: var(--paper); text-decoration: none; list-style: none; white-space: nowrap; }
.button:hover, .menu > summary:hover { background: var(--raised); }
.menu { position: relative; }
.menu > summary::-webkit-details-marker { display: none; }
.menu.end > summary::after { content: ' ▾'; }
.menu.main > summary { background: var(--accent); border-color: var(--accent); color: var(--onaccent); font-weight: 600; }
.menu.filter > summary { border-style: dashed; border-radius: 999px; }
.menu[open] > :last-child { position: absolute; z-index: 6; top: calc(100% + 4px); left: 0; width: max-content; max-width: min(44rem, 92vw); max-height: 75vh; overflow: auto; margin: 0; background: var(--paper); border: 1px solid var(--soft); border-radius: var(--round); padding: calc(2 * var(--step)); box-shadow: 0 8px 24px rgb(0 0 0 / 0.2); }
.menu.end[open] > :last-child { left: auto; right: 0; }
.menu pre { max-width: 40rem; }
.menu h2 { font-size: 1rem; margin: calc(2 * var(--step)) 0 0; }
.menu h2:first-child { margin-top: 0; }
.seek { flex: 0 1 30rem; }
.seek input { width: 100%; }
.seek-link { display: none; padding: 0 0.6rem; font-size: 1.5rem; line-height: 1; text-decoration: none; }
header.top { display: flex; flex-wrap: wrap; gap: 0 calc(2 * var(--step)); justify-content: space-between; align-items: center; border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; font-weight: 750; font-size: 1.25rem; line-height: 1.2; letter-spacing: -0.01em; color: var(--ink); text-decoration: none; }
.brand img { height: 2rem; margin-right: 0.5em; }
.brand.plain::before { content: ''; display: inline-block; width: 0.7em; height: 0.7em; border-radius: 3px; background: var(--accent); margin-right: 0.5em; }
.languages { display: flex; flex-wrap: wrap; gap: calc(2 * var(--step)); align-items: center; }
.languages [aria-current] { font-weight: 650; }
.trail ol { list-style: none; display: flex; flex-wrap: wrap; gap: 0 var(--step); padding: 0; margin: 0; }
.trail li:not(:last-child)::after { content: '›'; color: var(--soft); margin-left: var(--step); }
footer.bottom { border-top: 1px solid var(--line); color: var(--soft); padding-block: calc(2 * var(--step)); }
footer nav { display: flex; flex-wrap: wrap; gap: 0 calc(3 * var(--step)); margin-bottom: var(--step); }
button, input, select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: var(--round); padding: 0.4rem 0.65rem; max-width: 100%; min-width: 0; }
button { background: var(--accent); color: var(--onaccent); border-color: var(--accent); cursor: pointer; font-weight: 600; }
::placeholder { color: var(--soft); opacity: 1; }
button:disabled { background: var(--raised); color: var(--soft); border-color: var(--line); cursor: default; }
button.quiet, button.copy { background: var(--paper); color: var(--ink); border-color: var(--soft); font-weight: 400; }
button.copy { display: block; margin: 0 0 var(--step); }
input[type='checkbox'] { width: 1.1rem; height: 1.1rem; accent-color: var(--accent); vertical-align: -0.15em; }
summary { cursor: pointer; padding: 0.25rem 0; width: fit-content; max-width: 100%; }
summary::marker { color: var(--soft); }
.hero { padding: calc(2 * var(--step)) 0; }
.find { display: flex; flex-wrap: wrap; gap: var(--step); align-items: stretch; margin: calc(2 * var(--step)) 0; max-width: 44rem; }
.find input { flex: 1 1 14rem; padding: 0.6rem 0.8rem; }
.cards { list-style: none; padding: 0; display: grid; gap: calc(2 * var(--step)); grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); padding: calc(2 * var(--step)); min-width: 0; display: flex; flex-direction: column; }
.card h3 { margin-top: 0; }
:is(.card h3, .trail, .results) a:not(:hover) { text-decoration: none; }
.card .facts { margin: 0; }
.card .facts:last-child { display: flex; flex-wrap: wrap; gap: 0 var(--step); justify-content: space-between; }
.spark { margin: 0 0 calc(1.5 * var(--step)); }
.card .spark { margin-top: auto; }
.spark svg { display: block; width: 100%; height: 2.5rem; }
.drawn { min-width: 15rem; }
.spark .area { fill: var(--accent); opacity: 0.75; }
.spark .stroke { fill: none; stroke: var(--accent); stroke-width: 2; vector-effect: non-scaling-stroke; }
.spark figcaption { color: var(--soft); margin: 0; }
.grid abbr { text-decoration: none; }
.figures { display: flex; flex-wrap: wrap; gap: var(--step) calc(4 * var(--step)); margin: calc(2 * var(--step)) 0 0; }
.figures div { display: flex; flex-direction: column-reverse; }
.figures div dd:last-child { margin: 0; font-size: 1.3rem; font-weight: 650; line-height: 1.3; }
.figures dt { color: var(--soft); }
.themes { display: flex; flex-wrap: wrap; gap: var(--step); margin: var(--step) 0 calc(2 * var(--step)); }
.themes a { padding: 0.25rem 0.9rem; border-radius: 999px; background: var(--raised); color: var(--ink); text-decoration: none; }
.themes a[aria-current] { background: var(--accent); color: var(--onaccent); }
.folded { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.results { list-style: none; padding: 0; }
.results li { padding: var(--step) 0; border-bottom: 1px solid var(--line); }
.results li > a { font-weight: 600; }
.results .facts { display: block; }
.lately { list-style: none; padding: 0; margin: 0; }
.lately li { display: flex; flex-wrap: wrap; gap: 0 calc(2 * var(--step)); padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
.facts-list { display: grid; grid-template-columns: fit-content(24rem) minmax(0, 1fr); gap: var(--step) calc(2 * var(--step)); margin: 0; }
.facts-list dt { color: var(--soft); }
.facts-list dd { margin: 0; }
.facts-list small { display: block; }
dl:not(.facts-list) dd { margin: 0 0 var(--step); }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); padding: calc(1.5 * var(--step)) calc(2 * var(--step)); overflow: auto; margin: 0 0 var(--step); max-width: 100%; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.json { white-space: pre-wrap; }
.key { color: var(--accent); }
.digits { font-weight: 600; }
.scroll { overflow: auto; max-width: 100%; border: 1px solid var(--line); border-radius: var(--round); margin: var(--step) 0; }
.scroll:empty { display: none; }
.grid { max-height: 85vh; overscroll-behavior-x: contain; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.45rem 0.7rem; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
th { font-weight: 600; }
th .facts { font-weight: 400; }
thead th { background: var(--raised); }
.grid thead th { position: sticky; top: 0; z-index: 1; }
.grid thead tr:not(:last-child) th { border-bottom: 0; padding-bottom: 0; }
thead tr:last-child > * { border-bottom-color: var(--soft); }
.profiles td { background: var(--raised); padding-block: 0 0.25rem; max-width: none; }
tbody tr:hover > *, .profiles:hover td { background: var(--raised); }
.grid tbody th, .grid thead :is(th, td):first-child { position: sticky; left: 0; background: var(--raised); min-width: 5rem; max-width: 5rem; }
.grid tr > :nth-child(2) { position: sticky; left: 5rem; }
.changes tr > :first-child { min-width: 7rem; max-width: 7rem; }
.changes tr > :nth-child(2) { left: 7rem; }
.changes thead th { min-width: 8rem; }
.grid.changes td { white-space: normal; min-width: 6rem; }
.changes ins { text-decoration: none; font-weight: 600; }
.changes .added > th { box-shadow: inset 4px 0 var(--accent); }
.changes .removed > th { box-shadow: inset 4px 0 var(--warn); }
.changes :is(ins, del) { white-space: pre-wrap; }
.grid :is(th, td) { line-height: 24px; padding-block: 7px; }
.grid td:nth-child(2) { background: var(--paper); }
.grid:not(.numbers, .changes, [data-result], .embed *) tr > :nth-child(2) { border-right: 1px solid var(--line); }
.grid .profiles td, .grid tbody tr:hover > * { background: var(--raised); }
.profiles td:is(:first-child, :nth-child(2)) { z-index: 1; }
.grid tbody th { font-weight: 400; }
.grid thead th:is(:first-child, :nth-child(2)) { z-index: 2; }
.grid thead th.number { white-space: normal; }
.grid thead th { vertical-align: bottom; text-wrap: balance; }
.number, .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.null { color: var(--soft); font-style: italic; }
.sort, .grid tbody th a { color: inherit; text-decoration: none; }
.sort { display: inline-block; max-width: 18ch; }
.sort:hover, .grid tbody th a:hover { text-decoration: underline; }
.grid tbody th a { color: var(--soft); }
.d { white-space: nowrap; }
.grid .t { min-width: 24ch; }
.long summary { list-style: none; text-decoration: underline dotted; text-underline-offset: 0.3em; }
.long summary::-webkit-details-marker { display: none; }
.unit { display: block; color: var(--soft); font-weight: 400; }
dt .unit { display: inline; }
.grid td { unicode-bidi: plaintext; max-width: 34ch; overflow-wrap: break-word; }
.sum summary { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
.sum code { overflow-wrap: anywhere; }
.address { overflow-wrap: anywhere; text-underline-offset: 0.35em; }
.legend { display: flex; align-items: center; gap: 4px; max-width: none; }
.legend span[class] { width: 1.6rem; height: 0.9rem; border: 1px solid var(--line); border-radius: 3px; }
.whole { white-space: pre-wrap; overflow-wrap: anywhere; }
.profile summary { list-style: none; width: auto; padding: 0; }
.profile summary::-webkit-details-marker { display: none; }
.profile summary .bars { min-width: 5rem; }
.profile[open] { position: relative; }
.profiles > :has(.profile[open]) { z-index: 4; }
.stacked .profile[open] > :last-child { left: auto; right: 0; }
.profile[open] > :last-child { position: absolute; z-index: 3; top: 100%; left: 0; width: max-content; min-width: 12rem; max-width: 20rem; padding: var(--step); background: var(--paper); border: 1px solid var(--soft); border-radius: var(--round); box-shadow: 0 8px 24px rgb(0 0 0 / 0.2); }
.number .profile[open] > :last-child { left: auto; right: 0; }
.bars { display: block; width: 100%; min-width: 7rem; height: 1.75rem; }
.bars path, .reach { fill: transparent; }
.bars .bar { fill: var(--accent); }
.bars a:hover path, .bars a:focus-visible path { fill: color-mix(in srgb, var(--accent) 30%, transparent); }
.values { list-style: none; margin: 0; padding: 0; }
.profile .values li { display: block; max-width: 15rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.share, .nulls, .distinct { color: var(--soft); white-space: nowrap; }
.tabs { display: flex; overflow-x: auto; gap: 0 calc(3 * var(--step)); border-bottom: 1px solid var(--line); margin: var(--step) 0; }
.tabs a { white-space: nowrap; padding: 0.35rem 0; color: var(--soft); text-decoration: none; border-bottom: 3px solid transparent; margin-bottom: -1px; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { color: var(--ink); font-weight: 650; border-color: var(--accent); }
.bar .menu[open] > :last-child { max-height: max(16rem, 100vh - 22rem); padding-bottom: 0; }
.menu.filter[open] > :last-child { width: 22rem; }
.bar .menu form::after { content: ''; display: block; height: calc(2 * var(--step)); }
.menu form > button { position: sticky; bottom: calc(2 * var(--step)); width: 100%; margin-top: var(--step); box-shadow: 0 0 0 calc(2 * var(--step)) var(--paper); }
.embed main:has(> .scroll) { display: flex; flex-direction: column; height: 100vh; padding-bottom: var(--step); }
.embed main > .scroll { flex: 1 1 8rem; min-height: 8rem; max-height: none; }
.embed .grid tr > :is(:first-child, :nth-child(2)) { min-width: 0; max-width: 34ch; left: auto; }
.embed .grid thead tr > th { min-width: 6rem; max-width: none; }
.bar + .hint { margin-top: calc(var(--step) / 2); max-width: none; }
.correction { display: grid; gap: calc(2 * var(--step)); justify-items: start; max-width: 40rem; margin: calc(2 * var(--step)) 0; }
.correction .control { width: 100%; }
[aria-invalid] { border: 2px solid var(--warn); }
[role='alert'] { color: var(--warn); }
pre.error { color: var(--warn); background: none; border: 0; max-width: none; white-space: pre; overflow-wrap: normal; }
.notice { border: 1px solid var(--line); border-radius: var(--round); background: var(--raised); padding: calc(3 * var(--step)); margin: calc(2 * var(--step)) 0; text-align: center; }
.notice p { margin-inline: auto; }
.notice .actions { justify-content: center; margin: calc(2 * var(--step)) auto 0; }
.sections details { border-top: 1px solid var(--line); padding-bottom: var(--step); }
.sections summary { width: auto; padding: var(--step) 0 0; }
.sections strong { color: var(--accent); font-weight: 600; }
.choices { list-style: none; margin: var(--step) 0 0; padding: 2px; max-height: 15rem; overflow: auto; }
.choices label { display: block; padding: 0.15rem 0; }
.sections .choices { padding-left: 1rem; }
.sections :is(.control, .control-null) { padding: var(--step) 0 0 1rem; }
.chooser { display: flex; flex-wrap: wrap; gap: var(--step) calc(2 * var(--step)); align-items: end; margin: var(--step) 0; }
.chooser .control { flex: 0 1 16rem; }
.bar { display: flex; flex-wrap: wrap; gap: var(--step); align-items: center; }
.bar .chips { flex-wrap: nowrap; overflow-x: auto; margin: 0; min-width: 0; }
.bar .count { margin-left: auto; }
.sections :is(input:not([type='checkbox']), select), .control [type='search'] { width: 100%; }
.control { margin: 0; display: grid; gap: 0.25rem; border: 0; padding: 0; min-width: 0; }
.control-null { display: block; }
.control legend { padding: 0; }
fieldset.control { grid-template-columns: auto minmax(0, 1fr); align-items: center; gap: var(--step); }
.chips { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: var(--step); align-items: center; }
.chips li { white-space: nowrap; background: var(--raised); border: 1px solid var(--line); border-radius: 999px; padding: 0.15rem 0.3rem 0.15rem 0.9rem; }
.chips .reset { background: none; border: 0; padding: 0.15rem 0; }
.chips li > a[aria-label] { display: inline-block; padding: 0 0.5rem; text-decoration: none; font-weight: 700; }
.count { font-weight: 650; margin: 0; white-space: nowrap; }
.pager { display: flex; flex-wrap: wrap; gap: var(--step) calc(2 * var(--step)); align-items: center; margin: calc(2 * var(--step)) 0; }
.pager form { display: flex; gap: var(--step); align-items: center; flex-wrap: wrap; }
.off { color: var(--soft); }
.columns ul { margin-top: 0; }
.columns ul, .columns-list { columns: 20rem; list-style: none; padding: 0; }
.columns label { display: flex; gap: var(--step); align-items: center; }
.columns input { flex: none; }
.columns li, .columns-list li { padding: 0.15rem 0; break-inside: avoid; }
.downloads { list-style: none; padding: 0; margin: 0 0 calc(2 * var(--step)); }
.downloads li { display: flex; justify-content: space-between; gap: calc(3 * var(--step)); padding: 0.35rem 0; border-bottom: 1px solid var(--line); }
.downloads li[hidden] { display: none; }
.downloads .facts { white-space: nowrap; }
.downloads a:not(:hover) { text-decoration: none; }
figure { margin: calc(2 * var(--step)) 0; }
figcaption { margin-bottom: var(--step); color: var(--soft); }
@media (width >= 64rem) { .beside { display: grid; grid-template-columns: minmax(0, 34rem) minmax(20rem, 34rem); gap: calc(4 * var(--step)); align-items: start; } }
.numbers { width: fit-content; max-width: 100%; }
.grid.numbers :is(tbody th, thead th:first-child) { position: static; min-width: 12rem; max-width: 34rem; }
figcaption h2 { margin: 0; color: var(--ink); }
[data-result] { width: fit-content; }
.grid[data-result] tr > :is(:first-child, :nth-child(2)) { min-width: 0; max-width: 34ch; left: auto; }
.examples button { margin: 0 0 var(--step); }
.console textarea { width: 100%; font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
`

const otherMedia = /* css */ `
@media (max-width: 40rem) {
  h1 { font-size: 1.35rem; margin: 0 0 var(--step); }
  .dotted, .trail { line-height: 1.35; }
  .tabs { margin: 0 0 var(--step); gap: calc(1.5 * var(--step)); padding-right: 2rem; mask-image: linear-gradient(to left, transparent, #000 2rem); }
  .grid td:not(.profiles td, .changes td) { white-space: nowrap; max-width: 60vw; overflow: hidden; text-overflow: ellipsis; }
  .grid .t { min-width: 0; }
  .grid tbody tr:hover td { white-space: normal; }
  header.top, nav.trail, main { padding-block: calc(var(--step) / 2); }
  .seek { display: none; }
  .seek-link { display: inline-block; margin-left: auto; }
  header.top { flex-wrap: nowrap; }
  .brand { font-size: 1.05rem; }
  .languages { flex-wrap: nowrap; }
  .languages [aria-current] { display: none; }
  .grid thead th.number { white-space: nowrap; }
  .chooser .control { flex: 1 1 40%; }
  .chooser select { width: 100%; }
  .menu[open] > :last-child, .menu:is(.end, .filter)[open] > :last-child, .profiles .profile[open] > :last-child { position: fixed; z-index: 6; inset: auto 8px calc(3rem + 16px); width: auto; max-width: none; max-height: 75vh; }
  :is(.menu, .profile)[open] > summary::after { content: '✕'; position: fixed; z-index: 7; inset: auto 8px 8px; line-height: 3rem; text-align: center; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: var(--round); }
  :is(.menu, .profile)[open] > summary::before { content: ''; position: fixed; inset: 0; z-index: 5; }
  .bar .count { margin-left: 0; flex: 1; }
  .columns summary span { display: none; }
  .bar .chips { order: 1; flex: 1 1 60%; }
  .grid tbody th, .grid thead th:first-child, .grid thead td:first-child { position: static; }
  .grid tbody th, .grid thead :is(th, td):first-child { min-width: 0; }
  .grid.numbers tbody th { min-width: 0; max-width: 60vw; }
  .grid.changes { max-height: none; }
  .grid.changes tr > * { position: static; max-width: none; min-width: 0; background: none; }
  .grid.changes td { padding-block: 2px; }
  .changes .same { display: none; }
  .grid tr > :nth-child(2) { left: 0; max-width: 40vw; }
  .facts-list { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .facts-list dd { margin-bottom: calc(1.5 * var(--step)); }
  .stacked thead { display: none; }
  .stacked tr { display: grid; padding: var(--step) 0; border-bottom: 1px solid var(--line); }
  .stacked tr:last-child { border-bottom: 0; }
  .stacked :is(th, td) { border: 0; padding-block: 0.15rem; text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 0; }
  .stacked td[data-label]::before { content: attr(data-label) ': '; color: var(--soft); }
}
@media (min-width: 40rem) {
  .short { display: block; }
}
@media (prefers-reduced-motion: no-preference) {
  html { scroll-behavior: smooth; }
}
@media (max-width: 19rem) {
  header.top { flex-wrap: wrap; }
}
@page wide { size: landscape; }
@media print {
  .pager, .menu, .languages, .skip, .find, .seek, .tabs, .profile, button { display: none; }
  .scroll { overflow: visible; max-height: none; border: 0; }
  body:has(.grid) { page: wide; }
  .grid { font-size: 7pt; }
  .grid tr > :is(th, td):is(*, .t, :first-child, :nth-child(2)) { position: static; min-width: 0; max-width: none; padding: 2pt; line-height: 1.25; white-space: normal; overflow-wrap: break-word; }
  a { color: inherit; }
}
`
