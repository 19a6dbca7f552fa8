/** What a local run prints once it is ready. */

/** Everything worth knowing, one line each. */
export function banner(of: {
  base: string;
  link: string;
  apiKey: string;
  management: string;
  database: string;
  dataDir: string;
}): string {
  return `
  Process Document Service is ready.

  API            ${of.base}
  Reference      ${of.base}/docs
  Demo API key   ${of.apiKey}
  Public link    ${of.link}
  Management     ${of.management}   (health and metrics)
  Data           ${of.dataDir}   (${of.database})

  Try:  curl -H 'Authorization: Bearer ${of.apiKey}' ${of.base}/documents

  For local work only: new organizations get the Scale plan, webhooks may go to this machine, no rate limits.
  Ctrl-C stops everything.
`;
}
