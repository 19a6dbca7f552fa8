/** Makes npm's list of packages (SPDX, from stdin) the same whenever it is made: its name comes from what is in it, its time says nothing. */
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';

interface Sbom {
  documentNamespace: string;
  creationInfo: { created: string };
}

// what `npm sbom` writes down
const sbom = JSON.parse(await text(process.stdin)) as Sbom;
sbom.creationInfo.created = new Date(0).toISOString();
sbom.documentNamespace = '';
const digest = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
sbom.documentNamespace = `https://spdx.org/spdxdocs/process-document-service-${digest}`;
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
