/** The metrics of public links. */
import { counter, type Meters } from '#libs/service';

const responses = counter({
  name: 'embed_responses_total',
  help: 'Responses with a public document, by format and cache result: rendered (`miss`), cached (`hit`) or 304 (`not_modified`)',
  labels: { format: ['html', 'json'], cache: ['miss', 'hit', 'not_modified'] },
});

const assets = counter({
  name: 'embed_asset_responses_total',
  help: 'Responses with a picture of a public document: with the bytes (`sent`) or 304 (`not_modified`)',
  labels: { result: ['sent', 'not_modified'] },
});

const passwordChecks = counter({
  name: 'link_password_checks_total',
  help: 'Passwords sent for public links: right, wrong, or not compared because of a limit (`limited`). A password that was right within the last minute is not counted',
  labels: { result: ['right', 'wrong', 'limited'] },
});

/** All metrics of the sharing service. */
export const sharingMetrics = [responses, assets, passwordChecks];

/** Counts one response. */
export type CountResponse = (labels: {
  format: 'html' | 'json';
  cache: 'miss' | 'hit' | 'not_modified';
}) => void;

/** Creates the function that counts responses of public links. */
export function responseCounter(meters: Meters): CountResponse {
  return meters.counter(responses);
}

/** Counts one response with a picture. */
export type CountAsset = (labels: { result: 'sent' | 'not_modified' }) => void;

/** Creates the function that counts responses with a picture. */
export function assetCounter(meters: Meters): CountAsset {
  return meters.counter(assets);
}

/** Creates the function that counts the checks of passwords. */
export function passwordCheckCounter(meters: Meters) {
  return meters.counter(passwordChecks);
}
