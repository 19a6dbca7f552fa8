/** Warns at startup of settings that are valid but unsafe. */
import type { Log } from './log.ts';
import type { CommonSettings } from './settings.ts';

/** Logs a warning for each setting that is unsafe in production. */
export function warnOfRiskySettings({ TRUSTED_PROXIES }: CommonSettings, log: Log): void {
  for (const network of TRUSTED_PROXIES.filter(containsAllAddresses))
    log.warn(
      { network },
      'TRUSTED_PROXIES contains all addresses, so every caller can choose the address that limits and logs use. List only the networks of your proxies.',
    );
}

/** Whether a CIDR has a prefix of 0 bits. */
function containsAllAddresses(network: string): boolean {
  return /\/0+$/.test(network);
}
