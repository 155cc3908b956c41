import { Injectable } from '@nestjs/common';

/** Whether this process is ready for requests. */
@Injectable()
export class Readiness {
  private phase: 'starting' | 'serving' | 'draining' = 'starting';
  private check: () => Promise<boolean> = () => Promise.resolve(true);

  /** Sets the check. `check` must resolve soon in every case, with whether the process can work. */
  checkBy(check: () => Promise<boolean>): void {
    this.check = check;
  }

  serve(): void {
    this.phase = 'serving';
  }

  drain(): void {
    this.phase = 'draining';
  }

  get isDraining(): boolean {
    return this.phase === 'draining';
  }

  /** True while the process serves and can work. */
  async isReady(): Promise<boolean> {
    return this.phase === 'serving' && (await this.check());
  }
}
