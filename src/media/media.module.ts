import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { startMeasuring } from './length/length-pool.js';
import { MediaIntake } from './media-intake.js';
import { Spool } from './spool.js';
import { ScratchFolder } from './scratch-folder.js';

/** Recordings of callers: uploaded or downloaded, measured, and removed after the work. */
@Module({
  providers: [ScratchFolder, MediaIntake, Spool],
  exports: [ScratchFolder, MediaIntake, Spool],
})
export class MediaModule implements OnApplicationBootstrap {
  /** Before the first request, which would wait for them. */
  onApplicationBootstrap(): void {
    startMeasuring();
  }
}
