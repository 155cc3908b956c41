import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { startMeasuring } from './duration/duration-pool.js';
import { MediaIntake } from './media-intake.js';
import { Spool } from './spool.js';
import { TempFolder } from './temp-folder.js';

/** Recordings of callers: uploaded or downloaded, measured, and removed after the work. */
@Module({
  providers: [TempFolder, MediaIntake, Spool],
  exports: [TempFolder, MediaIntake, Spool],
})
export class MediaModule implements OnApplicationBootstrap {
  /** Starts the threads before the first request, which would otherwise wait for them. */
  onApplicationBootstrap(): void {
    startMeasuring();
  }
}
