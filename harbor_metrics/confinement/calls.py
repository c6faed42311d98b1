"""The numbers of those system calls that the filter knows, on x86-64 and on arm64."""

from __future__ import annotations

# Machine -> its number in audit.h, and its column in the table of calls.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# On x86-64 and on arm64: include/uapi/asm/unistd_64.h, include/uapi/asm-generic/unistd.h.
DENIED = {
    # Keys of the kernel, rings of requests that no filter sees, programs inside the kernel.
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "seccomp": (317, 277),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "syslog": (103, 116),
    "kexec_load": (246, 104),
    "fanotify_init": (300, 262),
    # Other processes: their memory, their files, their places.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "setns": (308, 268),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Another view of the files.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    # Of which Landlock does not ask: marks on files of others, and watching what is done to them.
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # arm64 has the last of these alone.
    "chown": (92, 54),
    "lchown": (94, 54),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "inotify_add_watch": (254, 27),
    # Memory and messages shared by number or name; names in /dev/shm remain.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# Answered as if the kernel did not know them; programs then do without.
UNKNOWN = {
    # As `clone` and `open`, with their arguments where no filter sees them.
    "clone3": (435, 435),
    "openat2": (437, 437),
    # Requests that no filter sees.
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    # Watching what is done to files; arm64 has the second alone.
    "inotify_init": (253, 26),
    "inotify_init1": (294, 26),
    # Whether others have lately read a page of a file.
    "mincore": (27, 232),
    # Pages that stay in a pipe or a socket when no process has them, whole for a byte of each.
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "sendfile": (40, 71),
    # Memory that no limit and no look at a process tells of: also that of rules, of which a ruleset
    # of Landlock can have any number. Who confines itself does without, as on an older kernel.
    "memfd_secret": (447, 447),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
# Younger calls are unknown as a whole: of what they do nobody has thought here.
LAST = 450
# Hints about what is kept in memory of files, those of others among them: taken, and not followed.
PRETENDED = {"fadvise64": (221, 223), "readahead": (187, 213)}
# Answered as where files have no attributes: of those that have Landlock does not ask.
ATTRIBUTES = {
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
}
# With flags in their sixth argument that tell what is in memory.
WITH_FLAGS = {"preadv2": (327, 286), "pwritev2": (328, 287)}
ADVISE, PROCESS_CONTROL = (28, 233), (157, 167)
CLONE, UNSHARE, CLOSE_RANGE = (56, 220), (272, 97), (436, 436)
SOCKET, SOCKETPAIR = (41, 198), (53, 199)
# Without the network nobody is called and nothing is sent, but on pairs and to who has called.
CALLING = {"connect": (42, 203), "sendmsg": (46, 211), "sendmmsg": (307, 269)}
# Who waits at an address is asked there; who has one can be found by it, and found gone.
SERVING = {"listen": (50, 201), "accept": (43, 202), "accept4": (288, 242)}
BIND = (49, 200)
CALLED = {"bind": BIND, **SERVING}
SEND_TO, SET_OPTION = (44, 206), (54, 208)
MAKE_ROOM = (285, 47)
# Those that take a clock as their first argument.
CLOCKS = {
    "clock_gettime": (228, 113),
    "clock_settime": (227, 112),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "clock_adjtime": (305, 266),
    "timer_create": (222, 107),
}
LIMIT, LIMIT_OF_PROCESS = (160, 164), (302, 261)
# Those that take a process as their first argument, and 0 for the caller.
OF_PROCESS = {
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
}
# And as their second, where the first says that it is one: who watches over a program is of its
# group and of its user.
OF_SOMEBODY = {"setpriority": (141, 140, 0), "ioprio_set": (251, 30, 1)}

# Calls that give a file its mode: the number, where the mode stands, and where flags say that a
# file is made. chmod, fchmod, fchmodat, open, openat, creat, mknod, mknodat; of these arm64 has
# fchmod and those that end in "at".
MODES = (
    (
        *((90, 1, 0), (91, 1, 0), (268, 2, 0)),
        *((2, 2, 1), (257, 3, 2), (85, 1, 0), (133, 1, 0), (259, 2, 0)),
    ),
    ((52, 1, 0), (53, 2, 0), (56, 3, 2), (33, 2, 0)),
)
# Those of them that change it.
OF_MODE = (frozenset({90, 91, 268}), frozenset({52, 53}))
# That give it its times: utime, utimes, futimesat, utimensat, of which arm64 has the last.
TIMES = ((132, 235, 261, 280), (88,))
CONTROL, FILE_CONTROL = (16, 29), (72, 25)
