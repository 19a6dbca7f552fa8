/** The arguments of a mongod for local runs: a small oplog and cache, and a fast stop. */

/** Returns the arguments. `cacheGB` is the size limit of WiredTiger's cache (at least 0.25). */
export function serverArguments(cacheGB: number): string[] {
  const parameters = [
    'diagnosticDataCollectionEnabled=false',
    // a one-member replica set need not wait for another member before it stops
    'shutdownTimeoutMillisForSignaledShutdown=0',
  ];
  return [
    ...['--nounixsocket', '--oplogSize', '256', '--wiredTigerCacheSizeGB', String(cacheGB)],
    ...parameters.flatMap((parameter) => ['--setParameter', parameter]),
  ];
}
