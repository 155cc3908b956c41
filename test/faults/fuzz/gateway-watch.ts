import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 500;
const BYTES_PER_MB = 1_048_576;
const PROBE = new URL('./stall-probe.js', import.meta.url);

/** A time in which the event loop stood still, as the probe writes it. */
interface Stall {
  readonly stallMs: number;
  readonly cpuMs: number;
  /** Of this the main thread was ready to work, and others had the CPU. */
  readonly waitMs: number;
  /** How late a thread was that does nothing. */
  readonly idleMs: number;
  /** Of this garbage was collected. The main thread then also waits for helpers, which may have no CPU. */
  readonly gcMs: number;
}

/** What a stall would be on a machine that does nothing else. */
const ownMs = ({ stallMs, cpuMs, waitMs, idleMs, gcMs }: Stall): number =>
  gcMs > 0 && cpuMs > 0 ? cpuMs : Math.max(cpuMs, stallMs - Math.max(waitMs, idleMs));

/** How long a gateway's event loop stood still, and how much memory it took. */
interface WatchedFigures {
  readonly worstStallMs: number;
  /** Without the time in which other threads or programs had the CPU. */
  readonly worstOwnStallMs: number;
  readonly ownStallsOverLimit: number;
  /** From the last sample before {@link GatewayWatch.warmedUp}, or from the start if that was never called. */
  readonly rssGrowthMb: number;
  readonly rssGrowthFromStartMb: number;
}

/** Where a gateway's metrics are, and the file of its stalls. */
interface Watched {
  readonly url: string;
  readonly token: string;
  readonly stallFile: string;
}

/** The value of `NODE_OPTIONS` with which a gateway writes its stalls to the file. */
export function probeOption(stallFile: string): string {
  const probe = new URL(PROBE);
  probe.searchParams.set('file', stallFile);
  return `--import ${probe.href}`;
}

/** Reads the memory of a gateway in another process twice a second, and at the end what its probe wrote. */
export class GatewayWatch {
  private peakMb = 0;
  private lastMb: number;
  private warmMb: number;
  private peakSinceWarmMb = 0;
  private isOver = false;
  private readonly watching: Promise<void>;

  private constructor(
    private readonly watched: Watched,
    private readonly startMb: number,
    private readonly begunStalls: number,
  ) {
    this.lastMb = startMb;
    this.warmMb = startMb;
    this.watching = this.watch();
  }

  /** The memory that the gateway has now is where growth begins. */
  static async start(watched: Watched): Promise<GatewayWatch> {
    return new GatewayWatch(watched, await residentMb(watched), stallsIn(watched).length);
  }

  /** From here on memory may not grow much. */
  warmedUp(): void {
    this.warmMb = this.lastMb;
    this.peakSinceWarmMb = this.lastMb;
  }

  /** Stalls longer than the limit are counted. */
  async stop(maxStallMs: number): Promise<WatchedFigures> {
    this.isOver = true;
    await this.watching;
    const stalls = this.stalls();
    const own = stalls.map(ownMs);
    return {
      worstStallMs: Math.round(Math.max(0, ...stalls.map(({ stallMs }) => stallMs))),
      worstOwnStallMs: Math.round(Math.max(0, ...own)),
      ownStallsOverLimit: own.filter((ms) => ms > maxStallMs).length,
      rssGrowthMb: Math.round(this.peakSinceWarmMb - this.warmMb),
      rssGrowthFromStartMb: Math.round(this.peakMb - this.startMb),
    };
  }

  /** The stalls that took the gateway itself longest, the worst first. */
  longest(count: number): readonly Stall[] {
    return this.stalls()
      .sort((one, other) => ownMs(other) - ownMs(one))
      .slice(0, count);
  }

  private stalls(): Stall[] {
    return stallsIn(this.watched).slice(this.begunStalls);
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      await sleep(EVERY_MS);
      // A gateway that has died is found by those who use it.
      const mb = await residentMb(this.watched).catch(() => undefined);
      if (mb === undefined) return;
      this.lastMb = mb;
      this.peakMb = Math.max(this.peakMb, mb);
      this.peakSinceWarmMb = Math.max(this.peakSinceWarmMb, mb);
    }
  }
}

async function residentMb({ url, token }: Watched): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / BYTES_PER_MB;
}

function stallsIn({ stallFile }: Watched): Stall[] {
  if (!existsSync(stallFile)) return [];
  const lines = readFileSync(stallFile, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Stall);
}
