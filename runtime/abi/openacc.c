/* OpenACC is refused, as Capstan does not implement it. GCC's libgomp serves OpenMP and OpenACC
 * from one file, so a program of `gcc -fopenacc` may be started with Capstan's. Without these
 * functions it would end with a message of the dynamic loader at best. Each function reports its
 * own name. */
#ifdef CST_SHARED_LIBRARY

#include "core/front.h"

static _Noreturn void refuse(const char *name) {
    cst_message_fatal(
        "this program uses OpenACC (%s), which Capstan does not have; run it on GCC's "
        "own libgomp",
        name);
}

#define REFUSE(name)                                                                               \
    __attribute__((visibility("default"))) _Noreturn void name(void);                              \
    _Noreturn void name(void) {                                                                    \
        refuse(#name);                                                                             \
    }

/* OACC_2.0 */
REFUSE(acc_async_test)
REFUSE(acc_async_test_all)
REFUSE(acc_async_test_all_h_)
REFUSE(acc_async_test_h_)
REFUSE(acc_copyin)
REFUSE(acc_copyin_32_h_)
REFUSE(acc_copyin_64_h_)
REFUSE(acc_copyin_array_h_)
REFUSE(acc_copyout)
REFUSE(acc_copyout_32_h_)
REFUSE(acc_copyout_64_h_)
REFUSE(acc_copyout_array_h_)
REFUSE(acc_create)
REFUSE(acc_create_32_h_)
REFUSE(acc_create_64_h_)
REFUSE(acc_create_array_h_)
REFUSE(acc_delete)
REFUSE(acc_delete_32_h_)
REFUSE(acc_delete_64_h_)
REFUSE(acc_delete_array_h_)
REFUSE(acc_deviceptr)
REFUSE(acc_free)
REFUSE(acc_get_cuda_stream)
REFUSE(acc_get_current_cuda_context)
REFUSE(acc_get_current_cuda_device)
REFUSE(acc_get_device_num)
REFUSE(acc_get_device_num_h_)
REFUSE(acc_get_device_type)
REFUSE(acc_get_device_type_h_)
REFUSE(acc_get_num_devices)
REFUSE(acc_get_num_devices_h_)
REFUSE(acc_hostptr)
REFUSE(acc_init)
REFUSE(acc_init_h_)
REFUSE(acc_is_present)
REFUSE(acc_is_present_32_h_)
REFUSE(acc_is_present_64_h_)
REFUSE(acc_is_present_array_h_)
REFUSE(acc_malloc)
REFUSE(acc_map_data)
REFUSE(acc_memcpy_from_device)
REFUSE(acc_memcpy_to_device)
REFUSE(acc_on_device)
REFUSE(acc_on_device_h_)
REFUSE(acc_present_or_copyin)
REFUSE(acc_present_or_copyin_32_h_)
REFUSE(acc_present_or_copyin_64_h_)
REFUSE(acc_present_or_copyin_array_h_)
REFUSE(acc_present_or_create)
REFUSE(acc_present_or_create_32_h_)
REFUSE(acc_present_or_create_64_h_)
REFUSE(acc_present_or_create_array_h_)
REFUSE(acc_set_cuda_stream)
REFUSE(acc_set_device_num)
REFUSE(acc_set_device_num_h_)
REFUSE(acc_set_device_type)
REFUSE(acc_set_device_type_h_)
REFUSE(acc_shutdown)
REFUSE(acc_shutdown_h_)
REFUSE(acc_unmap_data)
REFUSE(acc_update_device)
REFUSE(acc_update_device_32_h_)
REFUSE(acc_update_device_64_h_)
REFUSE(acc_update_device_array_h_)
REFUSE(acc_update_self)
REFUSE(acc_update_self_32_h_)
REFUSE(acc_update_self_64_h_)
REFUSE(acc_update_self_array_h_)
REFUSE(acc_wait)
REFUSE(acc_wait_all)
REFUSE(acc_wait_all_async)
REFUSE(acc_wait_all_async_h_)
REFUSE(acc_wait_all_h_)
REFUSE(acc_wait_async)
REFUSE(acc_wait_async_h_)
REFUSE(acc_wait_h_)

/* OACC_2.0.1 */
REFUSE(acc_async_wait)
REFUSE(acc_async_wait_all)
REFUSE(acc_pcopyin)
REFUSE(acc_pcreate)

/* OACC_2.5 */
REFUSE(acc_copyin_async)
REFUSE(acc_copyin_async_32_h_)
REFUSE(acc_copyin_async_64_h_)
REFUSE(acc_copyin_async_array_h_)
REFUSE(acc_copyout_async)
REFUSE(acc_copyout_async_32_h_)
REFUSE(acc_copyout_async_64_h_)
REFUSE(acc_copyout_async_array_h_)
REFUSE(acc_copyout_finalize)
REFUSE(acc_copyout_finalize_32_h_)
REFUSE(acc_copyout_finalize_64_h_)
REFUSE(acc_copyout_finalize_array_h_)
REFUSE(acc_copyout_finalize_async)
REFUSE(acc_create_async)
REFUSE(acc_create_async_32_h_)
REFUSE(acc_create_async_64_h_)
REFUSE(acc_create_async_array_h_)
REFUSE(acc_delete_async)
REFUSE(acc_delete_async_32_h_)
REFUSE(acc_delete_async_64_h_)
REFUSE(acc_delete_async_array_h_)
REFUSE(acc_delete_finalize)
REFUSE(acc_delete_finalize_32_h_)
REFUSE(acc_delete_finalize_64_h_)
REFUSE(acc_delete_finalize_array_h_)
REFUSE(acc_delete_finalize_async)
REFUSE(acc_memcpy_from_device_async)
REFUSE(acc_memcpy_to_device_async)
REFUSE(acc_update_device_async)
REFUSE(acc_update_device_async_32_h_)
REFUSE(acc_update_device_async_64_h_)
REFUSE(acc_update_device_async_array_h_)
REFUSE(acc_update_self_async)
REFUSE(acc_update_self_async_32_h_)
REFUSE(acc_update_self_async_64_h_)
REFUSE(acc_update_self_async_array_h_)

/* OACC_2.5.1 */
REFUSE(acc_prof_lookup)
REFUSE(acc_prof_register)
REFUSE(acc_prof_unregister)
REFUSE(acc_register_library)

/* OACC_2.6 */
REFUSE(acc_attach)
REFUSE(acc_attach_async)
REFUSE(acc_detach)
REFUSE(acc_detach_async)
REFUSE(acc_detach_finalize)
REFUSE(acc_detach_finalize_async)
REFUSE(acc_get_property)
REFUSE(acc_get_property_h_)
REFUSE(acc_get_property_string)
REFUSE(acc_get_property_string_h_)

/* OACC_2.6.1 */
REFUSE(acc_copyout_finalize_async_32_h_)
REFUSE(acc_copyout_finalize_async_64_h_)
REFUSE(acc_copyout_finalize_async_array_h_)
REFUSE(acc_delete_finalize_async_32_h_)
REFUSE(acc_delete_finalize_async_64_h_)
REFUSE(acc_delete_finalize_async_array_h_)

/* GOACC_2.0 */
REFUSE(GOACC_data_end)
REFUSE(GOACC_data_start)
REFUSE(GOACC_enter_exit_data)
REFUSE(GOACC_get_num_threads)
REFUSE(GOACC_get_thread_num)
REFUSE(GOACC_parallel)
REFUSE(GOACC_update)
REFUSE(GOACC_wait)

/* GOACC_2.0.1 */
REFUSE(GOACC_declare)
REFUSE(GOACC_parallel_keyed)

/* GOACC_2.0.2 */
REFUSE(GOACC_enter_data)
REFUSE(GOACC_exit_data)

#endif
