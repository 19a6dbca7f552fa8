/** The settings of Hey API: relative imports with `.ts`, which Node runs without a build. */
const config = {
  input: process.env.OPENAPI,
  output: { path: 'generated', module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch'],
};

// biome-ignore lint/style/noDefaultExport: Hey API reads its settings from the default export
export default config;
