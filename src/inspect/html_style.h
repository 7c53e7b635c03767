#pragma once
// The style of a report. It has the colours and shapes of the inspector's page (src/inspector/page/style.css), adapted
// for reading and printing.

#include <string_view>

namespace shoal {

inline constexpr std::string_view kHtmlStyle = R"css(
:root { --ground: #0d1320; --panel: #141c2b; --raised: #1c273a; --line: #26334a; --text: #e2e9f4; --muted: #8d9cb5;
  --accent: #4cc2f0; --warm: #f4b860; --sidebar: #0a0f19; color-scheme: dark; }
@media (prefers-color-scheme: light) {
  :root { --ground: #f1f4f9; --panel: #ffffff; --raised: #eef2f8; --line: #dbe2ec; --text: #152033; --muted: #5d6d85;
    --accent: #0a7cae; --warm: #b86a00; --sidebar: #e7ecf4; color-scheme: light; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font-variant-numeric: tabular-nums;
  font: 13.5px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1, h2, h3, p, dl, dd { margin: 0; }
h1 { font-size: 21px; font-weight: 650; letter-spacing: -0.01em; }
h2 { font-size: 17px; font-weight: 650; margin: 30px 0 10px; }
h3 { font-size: 13px; font-weight: 650; padding: 11px 14px 9px; border-bottom: 1px solid var(--line); }
header { background: var(--panel); border-bottom: 1px solid var(--line); }
header > div, main { max-width: 1600px; margin: 0 auto; padding: 18px 32px; }
main { padding-top: 0; padding-bottom: 48px; }
nav { margin-top: 14px; display: flex; flex-wrap: wrap; gap: 6px 18px; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
.facts { display: flex; flex-wrap: wrap; gap: 10px 34px; margin-top: 14px; }
.facts dt { font-size: 11.5px; color: var(--muted); }
.facts dd { font-weight: 600; font-size: 15px; overflow-wrap: anywhere; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 11px; margin-bottom: 14px;
  overflow: hidden; }
.hint { color: var(--muted); font-size: 12px; padding: 8px 14px; }
.scroll { overflow-x: auto; }
.picture { padding: 12px 14px; }
.picture svg { display: block; max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-size: 11.5px; font-weight: 600; color: var(--muted); padding: 7px 14px;
  white-space: nowrap; }
td { padding: 4px 14px; border-top: 1px solid color-mix(in srgb, var(--line) 60%, transparent); white-space: nowrap; }
td:first-child { white-space: normal; overflow-wrap: anywhere; }
.number { text-align: right; }
.off { color: var(--muted); }
.dot { display: inline-block; width: 9px; height: 9px; border-radius: 3px; margin-right: 9px; }
.bar { display: inline-flex; justify-content: flex-end; position: relative; min-width: 118px; height: 19px;
  border-radius: 4px; background: var(--raised); overflow: hidden; vertical-align: middle; }
.bar i { position: absolute; left: 0; top: 0; bottom: 0;
  background: color-mix(in srgb, var(--accent) 42%, transparent); }
.bar b { position: relative; font-weight: 400; padding: 0 7px; }
.matrix { width: auto; margin: 6px 14px 12px 0; }
.matrix thead th { text-align: center; padding: 6px 8px; }
.matrix tbody th { text-align: right; font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-weight: 400;
  padding: 2px 12px 2px 14px; color: var(--text); }
.matrix td { width: 64px; min-width: 64px; text-align: center;
  font: 600 11px ui-monospace, "DejaVu Sans Mono", monospace;
  border: 1px solid color-mix(in srgb, var(--line) 60%, transparent); }
.matrix .r { background: color-mix(in srgb, var(--accent) 20%, transparent); color: var(--accent); }
.matrix .w { background: color-mix(in srgb, var(--warm) 26%, transparent); color: var(--warm); }
.timeline text { font-size: 12px; fill: var(--text); }
.timeline .tick { font-size: 10.5px; fill: var(--muted); }
.timeline .name { font-size: 11.5px; fill: #0b1220; }
.timeline .grid { stroke: var(--line); }
.treemap { height: auto; }
.treemap text { font-size: 12px; fill: var(--text); }
.treemap .name { font-weight: 600; }
.treemap .back { opacity: 0.33; }
.treemap .used { opacity: 0.62; }
.zone-map text { text-anchor: middle; font: 11px ui-monospace, monospace; }
.zone-map rect { stroke: var(--panel); }
.schedule .ground, .places .page { fill: none !important; }
.schedule .on { stroke: var(--panel) !important; }
.places { max-width: 100%; height: auto; margin: 0 auto; }
@media print { .panel { break-inside: avoid; } nav { display: none; } }
)css";

}  // namespace shoal
