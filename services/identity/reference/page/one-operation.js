/** Makes Swagger UI read one operation at a time. Without it, each opened operation parses the whole document. */

/** A plugin of Swagger UI. It replaces the function that resolves the references of a part of the document. */
export const oneOperation = ({ fn: { resolveSubtree } }) => ({
  fn: {
    resolveSubtree: (document, place, options) => {
      const [section, path] = place;
      const item = section === 'paths' ? document.paths?.[path] : undefined;
      return resolveSubtree(item ? selectPath(document, path, item) : document, place, options);
    },
  },
});

/** Returns the document with one of its paths, and only those components that the path refers to. */
export function selectPath(document, path, item) {
  const components = {};
  const add = (value) => {
    for (const [, section, name] of JSON.stringify(value).matchAll(/"#\/components\/([^/"]+)\/([^/"]+)"/g)) {
      const component = document.components?.[section]?.[name];
      if (component === undefined || components[section]?.[name]) continue;
      components[section] = { ...components[section], [name]: component };
      add(component);
    }
  };
  add(item);
  const { openapi, info, servers } = document;
  return { openapi, info, servers, paths: { [path]: item }, components };
}
