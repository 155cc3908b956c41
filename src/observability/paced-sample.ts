import type { Clock } from '../common/time/clock.js';

/** The database is asked for metrics at most so often. */
const SAMPLE_MS = 10_000;

/** Figures of the database for the metrics: asked at a scrape, at most every 10 s, however many scrapes there are. */
export class PacedSample<Row> {
  private askedAtMs = -Infinity;
  private row: Promise<Row | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly clock: Clock,
    private readonly ask: () => Promise<Row | undefined>,
  ) {}

  /** The latest figures; undefined where the database did not answer. Never rejects. */
  read(): Promise<Row | undefined> {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.askedAtMs >= SAMPLE_MS) {
      this.askedAtMs = nowMs;
      this.row = this.ask().catch(() => undefined);
    }
    return this.row;
  }
}
