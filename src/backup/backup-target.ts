/** Where the parts of a backup are written: an archive, or a folder. Names are relative, with slashes. */
export interface BackupTarget {
  /** Adds a folder. It may be empty. */
  addFolder(name: string): void;
  /** Adds a small file. */
  addText(name: string, text: string): void;
  /** Adds a file that other processes may change at the same time. Returns whether it existed. */
  addFile(name: string, path: string): Promise<boolean>;
}
