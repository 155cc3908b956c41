import { Readable } from 'node:stream';

/** Pieces as a stream, whose destruction closes the source at once: the pieces themselves would end only with the next one. */
export class PieceStream extends Readable {
  constructor(
    private readonly pieces: AsyncGenerator<Buffer>,
    private readonly source: Readable,
  ) {
    super();
  }

  override _read(): void {
    this.pieces.next().then(
      ({ value, done }) => {
        if (!this.destroyed) this.push(done === true ? null : value);
      },
      (error: unknown) => {
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.source.destroy();
    done(error);
  }
}
