/**
 * Makes npm's SPDX document (from stdin) reproducible: a fixed time, and a namespace that is a hash of its
 * content.
 */
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';

interface Sbom {
  documentNamespace: string;
  creationInfo: { created: string };
}

// the output of `npm sbom`
const sbom = JSON.parse(await text(process.stdin)) as Sbom;
sbom.creationInfo.created = new Date(0).toISOString();
sbom.documentNamespace = '';
const digest = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
sbom.documentNamespace = `https://spdx.org/spdxdocs/process-document-service-${digest}`;
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
