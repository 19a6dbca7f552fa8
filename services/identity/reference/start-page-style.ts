/** The style sheet of the start page, for light and dark screens of every width. */

/** The style sheet as the page embeds it; the Content-Security-Policy contains its hash. */
export const startPageStyle = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b2430; --quiet: #55606e; --line: #d9dfe6; --accent: #0b4a7d;
  --code: #f3f5f8; --good: #17653a; --bad: #9a3412;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161b22; --ink: #e2e7ee; --quiet: #a3aebc; --line: #313a46; --accent: #8fc1ee;
    --code: #1e252e; --good: #7fd6a2; --bad: #f5b08a;
  }
}
* { box-sizing: border-box; }
html {
  font: 100%/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
  color: var(--ink); background: var(--paper); -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}
body { margin: 0; overflow-wrap: anywhere; }
main { max-width: 44rem; margin: 0 auto; padding: clamp(1.5rem, 6vw, 4rem) 1.25rem; }
h1 { margin: 0 0 0.75rem; padding-bottom: 0.75rem; border-bottom: 3px solid var(--accent); font-size: clamp(1.5rem, 5vw, 2.1rem); line-height: 1.2; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.15rem; }
p, ul { margin: 0.5rem 0; }
ul { padding-inline-start: 1.25rem; }
li { padding: 0.2rem 0; }
a { color: var(--accent); text-underline-offset: 0.16em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
code { padding: 0.1em 0.3em; background: var(--code); border-radius: 3px; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.9em; }
.services { padding: 0; list-style: none; border-top: 1px solid var(--line); }
.services li { display: flex; justify-content: space-between; gap: 1rem; padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
.ok { color: var(--good); }
.degraded { color: var(--bad); }
`
  .replaceAll(/\s+/g, ' ')
  .trim();
