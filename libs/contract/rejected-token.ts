/** The result of authentication with a bearer token that is not accepted. */

/** A bearer token that is not accepted, with the reason. */
export class RejectedToken {
  /**
   * One sentence that tells the caller what to do. ASCII without quotes, because it is also sent in a header.
   */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
