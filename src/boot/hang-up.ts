/** What SIGHUP means for a gateway that has started. */
interface Actions {
  readonly catalogFile: string | undefined;
  readonly reload: () => void;
  readonly stop: () => void;
}

/**
 * SIGHUP from the first moment on: one that comes while the gateway starts acts once it has. With `CATALOG_FILE` the file is
 * read anew; without it there is nothing to read: the terminal is gone, and so is the gateway.
 */
export class HangUp {
  private actions: Actions | undefined;
  private isDue = false;

  constructor() {
    process.on('SIGHUP', () => {
      if (this.actions) act(this.actions);
      else this.isDue = true;
    });
  }

  /** From now on the signal acts. */
  listen(actions: Actions): void {
    this.actions = actions;
    if (this.isDue) act(actions);
  }
}

function act({ catalogFile, reload, stop }: Actions): void {
  if (catalogFile === undefined) stop();
  else reload();
}
