/** Why a bearer token does not count: what a service's authentication gives in place of a principal. */

/** A bearer token that does not count now, with the reason. */
export class RejectedToken {
  /** One ASCII sentence without quotes that tells the caller what to do; it is sent in a header too. */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
