/** Whether this process is ready for requests. */
export class Readiness {
  private phase: 'starting' | 'serving' | 'draining' = 'starting';

  /** `check` proves that the database answers. */
  constructor(private readonly check: () => Promise<unknown>) {}

  serve(): void {
    this.phase = 'serving';
  }

  drain(): void {
    this.phase = 'draining';
  }

  get isDraining(): boolean {
    return this.phase === 'draining';
  }

  /** True while the process serves and reaches the database. */
  async isReady(): Promise<boolean> {
    if (this.phase !== 'serving') return false;
    try {
      await this.check();
      return true;
    } catch {
      return false;
    }
  }
}
