/* SPDX-License-Identifier: MIT */
/*
 * marks.h - instructions by which a guest says where counting begins and ends
 *
 * HINT with a number that nobody has given a meaning: every processor takes it for NOP, user space
 * may execute it, and no compiler emits it.
 */
#ifndef MARKS_H
#define MARKS_H

#define MARK_BEGIN 0x7e
#define MARK_END 0x7f

#endif
