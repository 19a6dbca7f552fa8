/** Creates a certificate authority and a certificate for the receiver of a test, with openssl. */
import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Writes ca.pem, receiver.pem and receiver.key into a folder. The certificate is for the host `receiver`. */
export async function createCertificates(folder: string): Promise<void> {
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-subj',
    '/CN=Test',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  await openssl('req', ...key, '-subj', '/CN=receiver', '-keyout', 'receiver.key', '-out', 'receiver.csr');
  await writeFile(join(folder, 'names'), 'subjectAltName=DNS:receiver\n');
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  await openssl(
    'x509',
    '-req',
    '-in',
    'receiver.csr',
    ...authority,
    '-extfile',
    'names',
    '-out',
    'receiver.pem',
  );
  // the user of the containers reads them
  await chmod(folder, 0o755);
  await chmod(join(folder, 'receiver.key'), 0o644);
}
