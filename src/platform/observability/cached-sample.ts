import type { Clock } from '../../common/time/clock.js';

/** The database is queried for metrics at most this often. */
const SAMPLE_MS = 10_000;

/** Figures from the database for the metrics. They are read at a scrape, but at most every 10 s. */
export class CachedSample<Row> {
  private sampledAtMs = -Infinity;
  private row: Promise<Row | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly clock: Clock,
    private readonly sample: () => Promise<Row | undefined>,
  ) {}

  /** The latest figures; undefined if the database did not respond. Never rejects. */
  read(): Promise<Row | undefined> {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.sampledAtMs >= SAMPLE_MS) {
      this.sampledAtMs = nowMs;
      this.row = this.sample().catch(() => undefined);
    }
    return this.row;
  }
}
