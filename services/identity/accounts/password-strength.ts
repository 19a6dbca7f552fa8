/** Rejects passwords that are common or easy to guess. The check works offline. */
import { InvalidRequest } from '#libs/contract';

/**
 * Rejects with `InvalidRequest` when a password is easy to guess. `known` are facts about its owner, such as name
 * and email; `path` is where the error points in the body.
 */
export type RejectWeakPassword = (password: string, known: readonly string[], path: string) => Promise<void>;

/** The highest score that is rejected: fewer than a million guesses (zxcvbn's scale goes from 0 to 4). */
const maxWeakScore = 1;

/**
 * How many characters are checked. The estimate takes at least quadratic time, and 32 strong characters are
 * enough.
 */
const checkedLength = 32;

/** Creates the check over the lists of common passwords that come with zxcvbn. */
export function createWeakPasswordCheck(): RejectWeakPassword {
  // loaded with the first password, because the lists are large
  let loading: ReturnType<typeof loadEstimator> | undefined;
  return async (password, known, path) => {
    loading ??= loadEstimator();
    const estimate = await loading;
    // known facts are cut like the password: a longer fact would never match inside a cut password
    const start = (text: string) => text.slice(0, checkedLength);
    if (estimate.check(start(password), known.map(start)).score > maxWeakScore) return;
    const message = 'This password is too easy to guess: choose a longer or less common one';
    throw InvalidRequest(undefined, { extra: { errors: [{ path, message }] } });
  };
}

async function loadEstimator() {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
