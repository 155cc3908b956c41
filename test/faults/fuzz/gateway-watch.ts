import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 500;
const BYTES_PER_MB = 1_048_576;

/** What a gateway says of itself: how long its event loop stood still, and how much memory it took. */
interface WatchedFigures {
  readonly worstStallMs: number;
  /** Half seconds with a stall above the limit. */
  readonly stallsOverLimit: number;
  readonly rssGrowthMb: number;
}

/** Reads the metrics of a gateway in another process twice a second. Each reading tells the worst stall since the one before. */
export class GatewayWatch {
  private worstStallMs = 0;
  private stallsOverLimit = 0;
  private peakMb = 0;
  private isOver = false;
  private readonly watching: Promise<void>;

  private constructor(
    private readonly read: () => Promise<{ stallMs: number; rssMb: number }>,
    private readonly startMb: number,
    private readonly maxStallMs: number,
  ) {
    this.watching = this.watch();
  }

  /** The memory that the gateway has now is where growth begins. */
  static async start(url: string, token: string, maxStallMs: number): Promise<GatewayWatch> {
    const read = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const text = await (await fetch(`${url}/metrics`, { headers })).text();
      const valueOf = (name: string): number =>
        Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
      return {
        stallMs: valueOf('nodejs_eventloop_lag_max_seconds') * 1_000,
        rssMb: valueOf('process_resident_memory_bytes') / BYTES_PER_MB,
      };
    };
    const { rssMb } = await read();
    return new GatewayWatch(read, rssMb, maxStallMs);
  }

  async stop(): Promise<WatchedFigures> {
    this.isOver = true;
    await this.watching;
    return {
      worstStallMs: Math.round(this.worstStallMs),
      stallsOverLimit: this.stallsOverLimit,
      rssGrowthMb: Math.round(this.peakMb - this.startMb),
    };
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      await sleep(EVERY_MS);
      // A gateway that has died is found by those who use it.
      const seen = await this.read().catch(() => undefined);
      if (seen === undefined) return;
      this.worstStallMs = Math.max(this.worstStallMs, seen.stallMs);
      if (seen.stallMs > this.maxStallMs) this.stallsOverLimit += 1;
      this.peakMb = Math.max(this.peakMb, seen.rssMb);
    }
  }
}
