import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A process whose last heartbeat is older than this many heartbeat intervals has died. */
export const LEASE_INTERVALS = 3;

/**
 * This process as the owner of synchronous holds. While it beats, its holds are its own; once its lease is over anyone
 * releases them (architecture: Money).
 */
@Injectable()
export class GatewayProcess {
  readonly id: string = randomUUID();

  constructor(private readonly dataSource: DataSource) {}

  /** Renews this process's lease and forgets the processes whose lease of `leaseMs` is over. */
  async heartbeat(leaseMs: number): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO gateway_process (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET heartbeat_at = now()`,
      [this.id],
    );
    await this.dataSource.query(
      `DELETE FROM gateway_process WHERE heartbeat_at < now() - $1 * interval '1 millisecond'`,
      [leaseMs],
    );
  }

  /** Ends the lease: what this process still holds may be released at once by others. */
  async deregister(): Promise<void> {
    await this.dataSource.query(`DELETE FROM gateway_process WHERE id = $1`, [this.id]);
  }
}
