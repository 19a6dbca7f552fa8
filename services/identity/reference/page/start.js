/** Starts the reference page: Swagger UI, the search, code samples, dark mode and the key of the tab. */
import { oneOperation } from './one-operation.js';
import { toSamples } from './samples.js';

const storedKey = 'pds.reference.key';
const page = document.documentElement;
const query = (selector) => document.querySelector(selector);

// ── dark mode ──
const dark = matchMedia('(prefers-color-scheme: dark)');
const setDark = (isDark) => page.classList.toggle('dark-mode', isDark);
const chosen = sessionStorage.getItem('pds.reference.theme');
setDark(chosen ? chosen === 'dark' : dark.matches);
dark.addEventListener('change', ({ matches }) => setDark(matches));
query('#theme').addEventListener('click', () => {
  const isDark = !page.classList.contains('dark-mode');
  setDark(isDark);
  sessionStorage.setItem('pds.reference.theme', isDark ? 'dark' : 'light');
});

// ── search ──
const search = query('#search');
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const group of document.querySelectorAll('#contents section')) {
    const items = [...group.querySelectorAll('li')];
    for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word));
    group.hidden = items.every((item) => item.hidden);
  }
  query('#no-match').hidden = [...document.querySelectorAll('#contents section')].some((one) => !one.hidden);
});
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  search.focus();
});
// on a narrow screen the contents are closed until they are needed, and again when an operation is chosen
const wide = matchMedia('(min-width: 60rem)');
const openIfWide = () => {
  query('#contents').open = wide.matches;
};
openIfWide();
wide.addEventListener('change', openIfWide);
query('#contents nav').addEventListener('click', ({ target }) => {
  if (target.closest('a')) openIfWide();
});

// ── Swagger UI ──
/** Remembers the key until the tab is closed, and no longer: not in `localStorage`. */
const rememberKey = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (original) => (payload) => {
          sessionStorage.setItem(storedKey, payload.bearer?.value ?? '');
          return original(payload);
        },
        logout: (original) => (payload) => {
          sessionStorage.removeItem(storedKey);
          return original(payload);
        },
      },
    },
  },
});

/** Shows the samples of an operation before its responses. */
const samples = () => ({
  wrapComponents: {
    responses:
      (Responses, { React, specSelectors }) =>
      (props) => {
        const { path, method } = props;
        const document = specSelectors.specJson();
        const all = React.useMemo(() => {
          const operation = document.getIn(['paths', path, method])?.toJS();
          const schemas = document.getIn(['components', 'schemas'])?.toJS();
          return operation && toSamples({ origin: location.origin, method, path, operation, schemas });
        }, [document, path, method]);
        const shown = React.createElement(Responses, props);
        return all
          ? React.createElement('div', null, React.createElement(Samples, { React, all }), shown)
          : shown;
      },
  },
});

function Samples({ React, all }) {
  const [name, setName] = React.useState(sessionStorage.getItem('pds.reference.language') ?? all[0].name);
  const { text } = all.find((one) => one.name === name) ?? all[0];
  const select = (value) => {
    sessionStorage.setItem('pds.reference.language', value);
    setName(value);
  };
  const tab = (one) =>
    React.createElement(
      'button',
      {
        key: one.name,
        type: 'button',
        role: 'tab',
        'aria-selected': one.name === name,
        onClick: () => select(one.name),
      },
      one.name,
    );
  const copy = React.createElement(
    'button',
    { type: 'button', onClick: () => navigator.clipboard.writeText(text) },
    'Copy',
  );
  return React.createElement(
    'div',
    { className: 'samples' },
    React.createElement('div', { role: 'tablist', 'aria-label': 'Language of the sample' }, all.map(tab)),
    React.createElement('pre', { tabIndex: 0, 'aria-label': `Sample in ${name}` }, text),
    copy,
  );
}

const ui = window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
  plugins: [rememberKey, samples, oneOperation],
  onComplete: () => {
    const key = sessionStorage.getItem(storedKey);
    if (key) ui.preauthorizeApiKey('bearer', key);
    query('#loading')?.remove();
  },
});
addEventListener('hashchange', () => ui.layoutActions.parseDeepLinkHash(location.hash));
