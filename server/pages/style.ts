import { nameOf } from '../http/responder.ts'

/** The one stylesheet, by hand: tokens first, then the frame, then what stands in it. */
export const style = /* css */ `
:root {
  color-scheme: light dark;
  --paper: light-dark(#ffffff, #14171a);
  --raised: light-dark(#f5f6f7, #1d2226);
  --ink: light-dark(#1b1f23, #e8eaec);
  --soft: light-dark(#52606b, #a9b4bd);
  --line: light-dark(#d5dade, #343c43);
  --link: light-dark(#0a5a8a, #7cc4f0);
  --accent: light-dark(#0a6b57, #58c9ae);
  --onaccent: light-dark(#ffffff, #0c1512);
  --step: 0.5rem;
  --wide: 78rem;
  --round: 6px;
}
*, *::before, *::after { box-sizing: border-box; }
html { font: 100%/1.55 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
body { margin: 0; min-height: 100vh; display: grid; grid-template-rows: auto auto 1fr auto; }
header.top, nav.trail, main, footer.bottom { width: 100%; max-width: var(--wide); margin: 0 auto; padding: var(--step) calc(2 * var(--step)); min-width: 0; }
main { padding-bottom: calc(6 * var(--step)); grid-row: 3; }
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.5vw, 2.25rem); line-height: 1.2; margin: calc(2 * var(--step)) 0 var(--step); overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: calc(4 * var(--step)) 0 var(--step); }
h3 { font-size: 1.1rem; margin: 0 0 var(--step); }
p { margin: 0 0 var(--step); max-width: 70ch; overflow-wrap: anywhere; }
.lead { font-size: 1.1rem; color: var(--soft); }
.facts, small { color: var(--soft); font-size: 1rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: var(--step); top: var(--step); background: var(--paper); padding: var(--step); z-index: 2; }
header.top { display: flex; flex-wrap: wrap; gap: var(--step); justify-content: space-between; align-items: baseline; }
.brand { font-weight: 700; font-size: 1.2rem; color: var(--ink); text-decoration: none; }
.languages { display: flex; gap: calc(2 * var(--step)); }
.trail ol { list-style: none; display: flex; flex-wrap: wrap; gap: var(--step); padding: 0; margin: 0; }
.trail li::after { content: ' ›'; color: var(--soft); }
footer.bottom { grid-row: 4; border-top: 1px solid var(--line); color: var(--soft); }
button, input, select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: var(--round); padding: 0.4rem 0.6rem; max-width: 100%; }
button { background: var(--accent); color: var(--onaccent); border-color: var(--accent); cursor: pointer; font-weight: 600; }
.find { display: flex; flex-wrap: wrap; gap: var(--step); align-items: center; margin: calc(2 * var(--step)) 0; }
.find input { flex: 1 1 14rem; }
.cards { list-style: none; padding: 0; display: grid; gap: calc(2 * var(--step)); grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); padding: calc(2 * var(--step)); }
.lately { list-style: none; padding: 0; }
.lately li { display: flex; flex-wrap: wrap; gap: var(--step); padding: 0.25rem 0; }
.facts-list { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr; gap: var(--step) calc(2 * var(--step)); }
.facts-list dt { color: var(--soft); overflow-wrap: anywhere; }
.facts-list dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.facts-list small { display: block; }
.cite { margin: 0; padding: var(--step) calc(2 * var(--step)); border-left: 4px solid var(--accent); background: var(--raised); overflow-wrap: anywhere; }
.scroll { overflow: auto; max-width: 100%; border: 1px solid var(--line); border-radius: var(--round); }
.grid { max-height: 80vh; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); }
thead th, thead td { background: var(--raised); vertical-align: bottom; }
.grid thead th, .grid thead td { position: sticky; top: 0; z-index: 1; }
.grid tbody th { position: sticky; left: 0; background: var(--raised); font-weight: 400; }
.grid thead td { left: 0; z-index: 2; }
thead th.number .sort { display: block; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.null, .null { color: var(--soft); font-style: italic; }
.sort { color: inherit; font-weight: 700; white-space: nowrap; }
.long { max-width: 32ch; }
.whole { white-space: pre-wrap; overflow-wrap: anywhere; }
.profile { font-weight: 400; margin-top: 0.3rem; min-width: 7rem; }
.bars { display: block; width: 100%; min-width: 7rem; height: 1.75rem; }
.bars rect { fill: var(--accent); }
.bars .reach { fill: transparent; }
.bars a:hover rect, .bars a:focus rect { fill: var(--link); }
.top { list-style: none; margin: 0; padding: 0; }
.profile .top li { display: block; max-width: 16rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.share, .nulls, .distinct { color: var(--soft); }
.filters { display: flex; flex-wrap: wrap; gap: calc(2 * var(--step)); margin: calc(2 * var(--step)) 0; align-items: end; background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); padding: calc(2 * var(--step)); }
.controls { display: grid; gap: calc(2 * var(--step)); grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); margin-top: var(--step); }
.filters details { flex: 1 1 100%; order: 3; }
.control { margin: 0; display: grid; gap: 0.25rem; border: 0; padding: 0; min-width: 0; }
.control.wide { flex: 1 1 20rem; }
summary { cursor: pointer; padding: 0.25rem 0; }
.chips { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: var(--step); }
.chips li { background: var(--raised); border: 1px solid var(--line); border-radius: 999px; padding: 0.2rem 0.8rem; overflow-wrap: anywhere; }
.chips a { display: inline-block; padding: 0 0.4rem; }
.pager { display: flex; flex-wrap: wrap; gap: calc(2 * var(--step)); align-items: center; margin: calc(2 * var(--step)) 0; }
.pager form { display: flex; gap: var(--step); align-items: center; flex-wrap: wrap; }
.off { color: var(--soft); }
.columns ul { columns: 14rem; list-style: none; padding: 0; }
@media (max-width: 40rem) {
  .facts-list { grid-template-columns: 1fr; }
  .facts-list dd { margin-bottom: var(--step); }
}
@media print {
  .filters, .pager, .columns, .languages, .skip, .find { display: none; }
  .scroll { overflow: visible; max-height: none; border: 0; }
}
`

/** Another style has another name, so it may be kept for ever. */
export const styleName = nameOf(style)
