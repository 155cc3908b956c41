import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';

const INTERVAL_MS = 60_000;

/** Tells accounts which of their keys end within seven days, and within one. */
@Injectable()
export class KeyExpiryEvents implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'key-expiry',
      intervalMs: INTERVAL_MS,
      tick: () => this.tick(),
    });
  }

  /** Returns how many ends were told. Two processes at once tell each of them once. */
  async tick(): Promise<number> {
    const [row] = await this.dataSource.query<{ readonly told: number }[]>(
      'SELECT key_tell_expiring() AS told',
    );
    return row?.told ?? 0;
  }
}
