/** Guessing: passwords that are common or easy to guess are refused, offline. */
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import { InvalidRequest } from '#libs/contract';

/** Throws `InvalidRequest` at a path of the body when a password is easy to guess, also from what is known of its owner. */
export type RejectWeakPassword = (password: string, known: readonly string[], path: string) => void;

/** Scores up to this one fall to fewer than a million guesses (zxcvbn's scale from 0 to 4). */
const weakest = 1;

/** How much of a password is looked at: the time to estimate grows with the square and more, and what this much does not give away is enough. */
const looksAt = 32;

/** A check over the lists of common passwords that come with it. */
export function weakPasswordRejecter(): RejectWeakPassword {
  const estimate = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  return (password, known, path) => {
    // what is known is found in what is looked at only if it is cut alike
    const start = (text: string) => text.slice(0, looksAt);
    if (estimate.check(start(password), known.map(start)).score > weakest) return;
    const message = 'This password is too easy to guess: choose a longer or a less common one';
    throw InvalidRequest(undefined, { extra: { errors: [{ path, message }] } });
  };
}
