/** Runs once after all tests. */
import { tearDown } from './global-setup.ts';

// biome-ignore lint/style/noDefaultExport: Jest takes its global teardown from the default export
export default tearDown;
