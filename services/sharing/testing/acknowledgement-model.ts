/** A model of acknowledgement: it keeps the whole history, and derives from it who has acknowledged in time. */

/** A published version. */
interface ModelVersion {
  id: string;
  isMinor: boolean;
  publishedAt: number;
  /** Whether its words were edited in place. */
  isEdited: boolean;
}

/** What happened to a person. */
interface ModelPerson {
  kind: 'member' | 'reader';
  addedAt: number;
  isGone: boolean;
}

const dayMs = 86_400_000;

/** The history of one document with one request. Times are in milliseconds. */
export class AcknowledgementModel {
  readonly versions: ModelVersion[] = [];
  readonly people = new Map<string, ModelPerson>();
  readonly acknowledgements: { personId: string; versionId: string; at: number }[] = [];
  readonly requestedAt: number;
  dueDays: number;

  constructor(requestedAt: number, dueDays: number) {
    this.requestedAt = requestedAt;
    this.dueDays = dueDays;
  }

  get current(): ModelVersion {
    const version = this.versions.at(-1);
    if (!version) throw new Error('Nothing is published');
    return version;
  }

  /** The people of a kind who are still asked. */
  list(kind: ModelPerson['kind']): string[] {
    return [...this.people].filter(([, one]) => one.kind === kind && !one.isGone).map(([id]) => id);
  }

  /** The expected `status` and `document_id` of everybody who is asked, by id. */
  getStatuses(now: number): Map<string, { status: string; document_id: string | null }> {
    return new Map(
      [...this.people]
        .filter(([, { isGone }]) => !isGone)
        .map(([id, { addedAt }]) => [id, this.getStatus(id, addedAt, now)]),
    );
  }

  private getStatus(id: string, addedAt: number, now: number) {
    const baseline = this.findBaseline(this.versions.length - 1);
    const counting = this.acknowledgements.filter(({ personId, versionId }) => {
      const at = this.versions.findIndex((version) => version.id === versionId);
      return personId === id && this.findBaseline(at) === baseline;
    });
    const last = counting.at(-1);
    if (last && !this.current.isEdited) return { status: 'acknowledged', document_id: last.versionId };
    const since = Math.max(this.requestedAt, baseline.publishedAt, addedAt);
    return { status: now > since + this.dueDays * dayMs ? 'overdue' : 'pending', document_id: null };
  }

  /** The oldest version that a version at this place differs from only by minor changes. */
  private findBaseline(at: number): ModelVersion {
    const [version, previous] = [this.versions[at], this.versions[at - 1]];
    if (!version) throw new Error(`There is no version ${at}`);
    return version.isMinor && previous && !previous.isEdited ? this.findBaseline(at - 1) : version;
  }
}
