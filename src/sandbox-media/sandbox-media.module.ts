import { Module } from '@nestjs/common';
import { SandboxMediaController } from './sandbox-media.controller.js';

/** The sandbox's files on the gateway's port. */
@Module({ controllers: [SandboxMediaController] })
export class SandboxMediaModule {}
