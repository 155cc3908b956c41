import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';

const INTERVAL_MS = 60_000;
/** Responses of each kind that one statement forgets. */
const BATCH = 200;
/** Most statements of one sweep. The rest waits for the next sweep. */
const MAX_BATCHES = 50;
const SWEEP = 'SELECT response_sweep($1, $2) AS forgotten';

/** Forgets stored responses that have expired, and the oldest while all of them take too much space (decision G-108). */
@Injectable()
export class ResponseSweeper implements OnApplicationBootstrap {
  private readonly logger = new Logger(ResponseSweeper.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'responsesMaxBytes'>,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'stored-responses',
      intervalMs: INTERVAL_MS,
      tick: (stopping) => this.sweep(stopping),
    });
  }

  /** Returns the number of forgotten responses. No batch begins after the signal aborts. */
  async sweep(stopping?: AbortSignal): Promise<number> {
    let sum = 0;
    for (let batch = 0; batch < MAX_BATCHES && stopping?.aborted !== true; batch += 1) {
      const values = [this.config.responsesMaxBytes, BATCH];
      const [row] = await this.dataSource.query<{ forgotten: number }[]>(SWEEP, values);
      const forgotten = row?.forgotten ?? 0;
      sum += forgotten;
      if (forgotten < BATCH) break;
    }
    if (sum > 0) this.logger.log(`forgot ${sum} stored responses`);
    return sum;
  }
}
