import { Module } from '@nestjs/common';
import { MediaIntake } from './media-intake.js';
import { Spool } from './spool.js';
import { ScratchFolder } from './scratch-folder.js';

/** Recordings of callers: uploaded or downloaded, measured, and removed after the work. */
@Module({
  providers: [ScratchFolder, MediaIntake, Spool],
  exports: [ScratchFolder, MediaIntake, Spool],
})
export class MediaModule {}
