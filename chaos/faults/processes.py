"""Faults of the mirror's processes: crashes, a switch of the isolation level, a second service."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import psutil

from chaos.errors import ChaosError
from chaos.faults.fault import Fault, Scene
from chaos.judging.truth import Allowance
from chaos.subjects import Isolation, Service, Subject, System
from harness.processes import kill

_OURS = frozenset({System.HELIOGRAPH})
_FIND_SECONDS = 60.0
_LOOK_SECONDS = 0.05


class ServiceKill(Fault):
    name = "service-kill"
    about = "kill -9 of the service's driver, or of all its processes, and a restart at once"
    strikes = 100
    quick_strikes = 5
    gap = (0.2, 6.0)

    def strike(self, scene: Scene) -> str:
        kinds = [scene.random.random() < 0.4 for _ in scene.services]
        offsets = [scene.random.uniform(0.0, 1.0) for _ in scene.services]
        threads = [
            threading.Thread(target=_kill_and_restart, args=each)
            for each in zip(scene.services, kinds, offsets, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ", ".join("all processes" if whole else "the driver" for whole in kinds)


def _kill_and_restart(service: Service, whole_family: bool, offset: float) -> None:
    time.sleep(offset)
    service.kill(whole_family=whole_family)
    service.restart()


class IsolationSwitch(Fault):
    name = "isolation-switch"
    about = (
        "kill -9 of the service and a restart under the other isolation level; exactly once needs "
        "read_committed: under read_uncommitted the default mode runs"
    )
    allowance = Allowance(aborted=True, copied_again=True)
    # A service that is killed before it copies anything under the new level has not switched.
    patient = True
    gap = (0.2, 6.0)

    def first(self, subject: Subject) -> Subject:
        return replace(subject, isolation=Isolation.READ_UNCOMMITTED)

    def strike(self, scene: Scene) -> str:
        kinds = [scene.random.random() < 0.4 for _ in scene.services]
        for service, whole in zip(scene.services, kinds, strict=True):
            before = service.subject.isolation
            (after,) = set(Isolation) - {before}
            service.kill(whole_family=whole)
            service.restart(replace(service.subject, isolation=after))
        killed = ", ".join("all processes" if whole else "the driver" for whole in kinds)
        return f"{killed}; now {after}"


class WorkerKill(Fault):
    name = "worker-kill"
    about = "kill -9 of a Python worker of Spark"
    systems = _OURS

    def strike(self, scene: Scene) -> str:
        killed = []
        for service in scene.services:
            workers = _await_processes(service)
            victim = scene.random.choice(workers)
            kill(victim)
            killed.append(f"1 of {len(workers)}")
        return ", ".join(killed)


def _await_processes(service: Service) -> list[psutil.Process]:
    deadline = time.monotonic() + _FIND_SECONDS
    while not (found := service.workers()):
        if time.monotonic() > deadline:
            raise ChaosError(
                f"{service.subject.name}: no Python worker to kill within {_FIND_SECONDS:.0f} s"
            )
        service.look_after()
        time.sleep(_LOOK_SECONDS)
    return found


class TwoServices(Fault):
    name = "two-services"
    about = "a second service with the same configuration; then either is killed"

    def strike(self, scene: Scene) -> str:
        seconds = scene.duration(3.0, 12.0)
        rivals = [Service(service.subject) for service in scene.services]
        done = []
        try:
            scene.hold(seconds)
        finally:
            for index, second in enumerate(rivals):
                first = scene.services[index]
                goes, stays = scene.random.sample([first, second], 2)
                stays.exits += goes.exits
                if scene.random.random() < 0.5:
                    goes.kill(whole_family=scene.random.random() < 0.5)
                else:
                    goes.stop()
                stays.adopt(goes)
                scene.services[index] = stays
                done.append("the first ends" if goes is first else "the second ends")
        return f"for {seconds:.1f} s; {', '.join(done)}"
